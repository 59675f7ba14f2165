// A row as people see it while the batch runs: one without an outcome is `open`.

import type { Outcome } from '../batch/outcome.ts';
import { recordOf, type BatchRow } from './batch-rows.ts';
import type { RowRecord } from './row-record.ts';

export type ShownRow = Omit<RowRecord, 'outcome'> & { readonly outcome: Outcome | 'open' };

export const shownRow = (row: BatchRow): ShownRow =>
  row.record ? recordOf(row) : { ...recordOf(row), outcome: 'open', reason: '' };
