import { DEFAULT_TIMING } from '../../src/batch/params.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { SHEET } from './sheet-facts.ts';

/** A valid batch.json. */
export const FILE: BatchFile = {
  format: 2,
  batch: 'b',
  mark: '0123456789abcdef',
  content: '00',
  createdAt: '2026-11-21T10:00:00.000Z',
  sheet: SHEET,
  deployment: { id: 'd' },
  service: { base: 'local', api: 'v2', rehearsal: true, timing: DEFAULT_TIMING, prices: { L4: 0.5 } },
  concurrency: 4,
  retries: 2,
  unconfirmed: { rule: 'unknown', afterMs: 1_000 },
  deadlines: { queueMs: 1_000 },
  webhooks: false,
  seed: 7,
};
