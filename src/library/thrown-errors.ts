// Error classes that programs distinguish. All further errors are RunsheetErrors, whose codes the manual lists.

import { basename, dirname } from 'node:path';
import { parse } from 'csv-parse';
import type { PauseKind } from '../batch/pausing/pause-kinds.ts';
import { EXIT, problem, RunsheetError } from '../errors/error.ts';
import { openStore } from '../store/open-store.ts';
import { SheetRefused } from '../sheet/sheet-refused.ts';

const restOf = ({ exit, hint, place }: RunsheetError, cause?: unknown) => ({ exit, hint, place, cause });

/** A problem of a sheet. Lines, columns and rows count from 1. */
export type RowIssue = {
  /** The code of the error. */
  readonly code: string;
  /** The message, in words. */
  readonly message: string;
  /** A hint that helps. */
  readonly hint?: string;
  /** The row of the sheet. */
  readonly row?: number;
  /** The line of the file. */
  readonly line?: number;
  /** The name of the column. */
  readonly column?: string;
};

/** The sheet or one of its rows is wrong; nothing was sent. */
export class InputRefusedError extends RunsheetError {
  override readonly name = 'InputRefusedError';
  readonly #refused: RunsheetError;

  constructor(refused: RunsheetError) {
    super(refused.code, refused.message, restOf(refused, refused));
    this.#refused = refused;
  }

  /** Every problem, read from a file if there are many; for a plan, the first ones. */
  get issues(): AsyncIterable<RowIssue> {
    return issuesOf(this.#refused);
  }
}

async function* issuesOf(refused: RunsheetError): AsyncGenerator<RowIssue> {
  const file = refused instanceof SheetRefused ? refused.errorsFile : undefined;
  if (file === undefined) {
    for (const { code, message, hint, place } of refused instanceof SheetRefused
      ? refused.problems
      : [refused])
      yield issue({ code, message, hint, row: place?.row, line: place?.line, column: place?.columnName });
    return;
  }
  const lines = openStore(dirname(file))
    .open(basename(file))
    .pipe(parse({ columns: true }));
  for await (const line of lines as AsyncIterable<Readonly<Record<string, string>>>) {
    const { code = '', message = '', hint, row, line: at, column_name: column } = line;
    yield issue({ code, message, hint, row: row && Number(row), line: at && Number(at), column });
  }
}

/** Drops unknown fields. */
const issue = (fields: { readonly [K in keyof Required<RowIssue>]: unknown }): RowIssue =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as unknown as RowIssue;

/** Converts an error about a sheet; returns other errors unchanged. */
export const inputRefused = (error: unknown): unknown =>
  error instanceof RunsheetError && error.exit === EXIT.inputRefused ? new InputRefusedError(error) : error;

/** Earlier batches have done rows of this sheet; see `reuse` in the options. */
export class AlreadyDoneError extends RunsheetError {
  override readonly name = 'AlreadyDoneError';
  /** The batch that has most of the rows. */
  readonly batchId: string;
  /** How many rows are done. */
  readonly rows: number;

  constructor(composed: RunsheetError, facts: { readonly batchId: string; readonly rows: number }) {
    super(composed.code, composed.message, restOf(composed));
    this.batchId = facts.batchId;
    this.rows = facts.rows;
  }
}

/** The batch waits; `resume()` continues it, with other limits if its own ones are reached. */
export class BatchPausedError extends RunsheetError {
  override readonly name = 'BatchPausedError';
  /** The id of the batch. */
  readonly batchId: string;
  /** The kind of the pause. */
  readonly reason: PauseKind;

  constructor(batchId: string, pause: { readonly kind: PauseKind; readonly reason: string }) {
    const facts = {
      batch: batchId,
      reason: pause.reason,
      hint: `getHandle('${batchId}').resume() continues it`,
    };
    const composed = problem('E501', facts);
    super('E501', composed.message, restOf(composed));
    this.batchId = batchId;
    this.reason = pause.kind;
  }
}
