// Checks the service's own run list at the end of a test.

import { expect } from 'vitest';
import type { Run } from '../../src/service-client/contract/run.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { finished } from './outage.ts';
import { until, type Stage } from './stage.ts';

/** The maximum number of runs that were outstanding at the same time. */
export function mostOutstanding(runs: readonly Run[]): number {
  const moments = runs
    .flatMap((run) => [
      { at: run.createdAtMs ?? 0, by: 1 },
      { at: run.endedAtMs ?? Number.POSITIVE_INFINITY, by: -1 },
    ])
    // If a run ends and another starts in the same millisecond, the end counts first.
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  return moments.reduce((most, { by }) => Math.max(most, (now += by)), 0);
}

/** The runs of the batch with this birth mark. */
export const runsOf = (runs: readonly Run[], { mark }: Pick<BatchFile, 'mark'>): readonly Run[] =>
  runs.filter(({ webhook }) => readToken(webhook)?.mark === mark);

/** Expects exactly one run for each row. */
export function expectOneRunPerRow(runs: readonly Run[], rows: number): void {
  const byRow = new Map<number, number>();
  for (const run of runs) {
    const row = readToken(run.webhook)?.place ?? 0;
    byRow.set(row, (byRow.get(row) ?? 0) + 1);
  }
  expect([...byRow].filter(([, times]) => times !== 1)).toEqual([]);
  expect(byRow.size).toBe(rows);
}

/** Waits until `bought` runs exist, and ten of them have not ended. */
export const underWay = (stage: Stage, bought: number, more: () => boolean = () => true): Promise<void> =>
  until(async () => {
    const runs = await stage.truth();
    const outstanding = runs.filter(({ endedAtMs }) => endedAtMs === undefined).length;
    return runs.length >= bought && outstanding >= 10 && more();
  }, `${bought} runs were bought and 10 are outstanding`);

/** Waits for the batch, and expects one run for each row, never more than `cap` at a time, and an account that adds up. */
export async function expectAllOnce(stage: Stage, batch: string, rows: number, cap = rows): Promise<void> {
  expect((await finished(stage, batch)).code).toBe(0);
  const runs = await stage.truth();
  expectOneRunPerRow(runs, rows);
  expect(mostOutstanding(runs)).toBeLessThanOrEqual(cap);
  expect(stage.results().filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(rows);
  const verified = await stage.run(['verify']);
  expect([verified.code, verified.stdout]).toEqual([0, expect.not.stringContaining('NOT')]);
}
