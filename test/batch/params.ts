// The parameters of a small batch on a service that responds within a second.

import { DEFAULT_TIMING, type BatchParams, type Timing } from '../../src/batch/params.ts';

export const TIMING: Timing = {
  ...DEFAULT_TIMING,
  postDeadlineMs: 1_000,
  listGapMs: 100,
  settleMs: 0,
  settleWithoutControlMs: 500,
  pollIntervalMs: 100,
};

/** The parameters of a batch with a single lane in the order of the sheet, unless lanes are given. */
export const paramsOf = ({ rows = 10, ...params }: Partial<BatchParams> = {}): BatchParams => ({
  batch: 'b',
  rows,
  lanes: [{ places: rows }],
  concurrency: 4,
  retries: 2,
  webhooks: true,
  lists: true,
  unconfirmed: { rule: 'unknown', afterMs: 500 },
  seed: 7,
  timing: TIMING,
  pass: 1,
  ...params,
});
