// The reasons that a run shows while it waits.

import { expect } from 'vitest';
import { until } from '../stage/stage.ts';
import type { OwnService, Run } from './own-service.ts';

const MAX_MS = 30_000;
/** Waits until the run shows a reason that matches, and returns it. */
export async function reasonOf(own: OwnService, id: string, says: RegExp): Promise<string> {
  const beganAt = performance.now();
  let run: Run | undefined;
  await until(
    async () => says.test((run = await own.run(id)).live_status ?? ''),
    `it says ${String(says)}, not ${run?.live_status}`,
    MAX_MS,
  );
  expect(performance.now() - beganAt).toBeLessThan(MAX_MS);
  return run?.live_status ?? '';
}
