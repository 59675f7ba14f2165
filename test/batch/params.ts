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

export const paramsOf = (params: Partial<BatchParams> = {}): BatchParams => ({
  batch: 'b',
  rows: 10,
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
