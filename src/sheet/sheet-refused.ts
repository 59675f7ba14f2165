// The refusal of a sheet, and the corrections of the command that answer it. Loads nothing that reads a sheet: a command that
// only prints errors needs no decoder.

import { type Correction, problem, RunsheetError } from '../errors/error.ts';
import type { ColumnUse } from './column-use.ts';

/** E200: the sheet has `total` errors in `rows` rows, and nothing was sent. */
export class SheetRefused extends RunsheetError {
  /** The first ten, with their places and lines. */
  readonly problems: readonly RunsheetError[];
  readonly total: number;
  readonly byCode: Readonly<Record<string, number>>;
  /** Rows that were read. */
  readonly rows: number;
  /** The file with all of them, if they are listed. */
  readonly errorsFile: string | undefined;
  /** The use of each column, as far as the sheet could be read. */
  readonly columns: readonly ColumnUse[];

  /** `hint` replaces the usual one. */
  constructor(
    report: Pick<SheetRefused, 'problems' | 'total' | 'byCode' | 'rows'> &
      Partial<Pick<SheetRefused, 'columns'>>,
    errorsFile: string | undefined,
    hint?: string,
  ) {
    const isMore = report.total > report.problems.length;
    const facts = { rows: report.rows, wrong: report.total, errorsFile, isMore };
    const composed = problem('E200', facts);
    super('E200', composed.message, { exit: composed.exit, hint: hint ?? composed.hint });
    this.problems = report.problems;
    this.total = report.total;
    this.byCode = report.byCode;
    this.rows = report.rows;
    this.errorsFile = errorsFile;
    this.columns = report.columns ?? [];
  }
}

/** The corrections of the command. */
export const correctionsOf = (error: RunsheetError): readonly Correction[] =>
  (error instanceof SheetRefused ? error.problems : [error]).flatMap(({ correction }) => correction ?? []);

/** Corrections that the sheet needs next, and the messages they answer. */
export type Further = { readonly corrections: readonly Correction[]; readonly texts: readonly string[] };

const FURTHER = new WeakMap<object, Further>();

export const furtherOf = (error: RunsheetError): Further =>
  FURTHER.get(error) ?? { corrections: [], texts: [] };

export function lackingToo(error: RunsheetError, further: Further): RunsheetError {
  FURTHER.set(error, further);
  return error;
}
