// The search attributes by which Temporal finds batches. They are never encrypted.

import { rowsDone } from '../accounting/tally.ts';
import type { Progress } from './progress.ts';

export type SearchedBatch = {
  readonly deployment: string;
  readonly sheet: string;
  readonly rows: number;
  /** Equal for the same rows, deployment and service. */
  readonly content: string;
};

/** Name → type of all search attributes. Two Ints and one Double fit into what Temporal reserves in an SQL database. */
export const SEARCH_ATTRIBUTES = {
  RunsheetDeployment: 'KEYWORD',
  RunsheetSheet: 'KEYWORD',
  RunsheetRows: 'INT',
  RunsheetFailed: 'INT',
  RunsheetCost: 'DOUBLE',
  RunsheetContent: 'KEYWORD',
} as const;

/** A long name must not make the start fail: databases store up to 255 characters of a keyword. */
export const KEYWORD_BYTES = 200;

/** The values that change while the batch runs; `failed`: rows that have ended without success. */
export const searchValues = ({ rows, tally, costUsd }: Progress) => ({
  rows,
  failed: rowsDone(tally) - tally.outcomes.succeeded,
  cost: costUsd,
});
