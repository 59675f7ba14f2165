// What Temporal can search batches by. Search attributes are never encrypted.

import { rowsDone } from '../accounting/tally.ts';
import type { Progress } from './progress.ts';

/** Name → type of all search attributes. Two Ints and one Double fit into what Temporal reserves in an SQL database. */
export const SEARCH_ATTRIBUTES = {
  RunsheetDeployment: 'KEYWORD',
  RunsheetSheet: 'KEYWORD',
  RunsheetRows: 'INT',
  RunsheetFailed: 'INT',
  RunsheetCost: 'DOUBLE',
} as const;

/** A long name must not make the start fail: databases store up to 255 characters of a keyword. */
export const KEYWORD_BYTES = 200;

/** Those that change while the batch runs; `failed`: rows that have ended without success. */
export const searchValues = ({ rows, tally, costUsd }: Progress) => ({
  rows,
  failed: rowsDone(tally) - tally.outcomes.succeeded,
  cost: costUsd,
});
