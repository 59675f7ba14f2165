// How long a part is away in a test, and what it takes until a batch that lived through that is done.

import type { Ended, Stage } from './stage.ts';

/** Whether the tests that take many minutes run, and outages last as long as in earnest. */
export const IS_LONG = process.env['RUNSHEET_LONG'] === '1';

/** Far beyond the lease of 3 s, the heartbeat time-out of 5 s and the 10 s that a POST may take. */
export const OUTAGE_MS = IS_LONG ? 60_000 : 12_000;

/** Waits until the batch is done; a batch may pause itself on the way, and goes on by itself. */
export async function finished(stage: Stage, batch: string): Promise<Ended & { readonly pauses: number }> {
  for (let pauses = 0; ; pauses += 1) {
    const ended = await stage.run(['wait', batch]);
    if (ended.code !== 8) return { ...ended, pauses };
  }
}
