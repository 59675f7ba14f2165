// The length of outages in tests, and the wait for a batch that survives one.

import type { Ended, Stage } from './stage.ts';

/** Whether to run tests that take many minutes, with outages of realistic length. */
export const IS_LONG = process.env['RUNSHEET_LONG'] === '1';

/** Longer than the lease of 3 s, the heartbeat timeout of 5 s and the POST timeout of 10 s. */
export const OUTAGE_MS = IS_LONG ? 60_000 : 12_000;

/** Waits until the batch is done. The batch may pause meanwhile and resume automatically. */
export async function finished(stage: Stage, batch: string): Promise<Ended & { readonly pauses: number }> {
  for (let pauses = 0; ; pauses += 1) {
    const ended = await stage.run(['wait', batch]);
    if (ended.code !== 8) return { ...ended, pauses };
  }
}
