// The error class for users. Code throws `problem(code, facts)`; message and hint come from the error table.

import { errorTable } from './codes.ts';
import type { Entry } from './entry.ts';

export { list } from './entry.ts';
export { EXIT } from './exit-codes.ts';
export { nearest } from './did-you-mean.ts';
export { errorMessage } from './message.ts';

/** Where in a sheet something is wrong. Lines are physical lines and columns count fields (JSON: characters), from 1. */
export type Place = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The address of the cell in a workbook: `C17`. */
  readonly cell?: string;
  readonly row?: number;
  readonly columnName?: string;
  /** The line as it is in the file. */
  readonly excerpt?: string;
};

export type Code = keyof typeof errorTable;
type FactsOf<C extends Code> = (typeof errorTable)[C] extends Entry<infer F> ? F : never;

/** A flag, with its value if it takes one. */
export type GivenFlag = readonly [flag: string, value?: string];

/** How the command becomes right: a wrong word and the one that was meant, or flags that it lacks. */
export type Correction =
  | { readonly wrong: string; readonly right: string }
  | { readonly add: readonly GivenFlag[] };

/** `message` says what is wrong, `hint` how to fix it, `exit` is the command's exit code. */
export class RunsheetError extends Error {
  override readonly name: string = 'RunsheetError';
  /** Names the error for ever. */
  readonly code: Code;
  /** The exit code of the command. */
  readonly exit: number;
  /** What helps. */
  readonly hint: string | undefined;
  /** Where in a sheet. */
  readonly place: Place | undefined;
  readonly correction: Correction | undefined;

  constructor(
    code: Code,
    message: string,
    rest: {
      exit: number;
      hint?: string | undefined;
      place?: Place | undefined;
      correction?: Correction | undefined;
      cause?: unknown;
    },
  ) {
    super(message, rest.cause === undefined ? {} : { cause: rest.cause });
    this.code = code;
    this.exit = rest.exit;
    this.hint = rest.hint;
    this.place = rest.place;
    this.correction = rest.correction;
  }
}

/** Whether it is a RunsheetError, with this code if one is given. */
export const isRunsheetError = <C extends Code = Code>(
  error: unknown,
  code?: C,
): error is RunsheetError & { readonly code: C } =>
  error instanceof RunsheetError && (code === undefined || error.code === code);

/** Composes the error `code` from its facts; `place` says where in a sheet, `correction` what was meant, `cause` what was caught. */
export function problem<C extends Code>(
  code: C,
  facts: FactsOf<C>,
  more: { place?: Place; correction?: Correction | undefined; cause?: unknown } = {},
): RunsheetError {
  const row = errorTable[code] as Entry<FactsOf<C>>;
  return new RunsheetError(code, row.what(facts), { exit: row.exit, hint: row.hint(facts), ...more });
}

/** undefined without a nearest word. */
export const correctionOf = (wrong: string, right: string | undefined): Correction | undefined =>
  right === undefined ? undefined : { wrong, right };
