import type { BatchFile } from '../../src/store/batch-file.ts';

/** The facts in batch.json about a sheet with one row, in one lane without a queue. */
export const SHEET: BatchFile['sheet'] = {
  name: 'sheet.csv',
  file: 'sheet.csv',
  sha256: '00',
  bytes: 1,
  options: { format: 'csv', map: {}, set: {}, drop: [], types: {} },
  columns: ['prompt'],
  inputs: [{ input: 'prompt', kind: 'string', from: { column: 'prompt' } }],
  rows: 1,
  pages: 1,
  repeats: 0,
  lanes: [],
  isQueued: false,
};
