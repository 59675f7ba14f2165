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
  readonly row?: number;
  readonly columnName?: string;
  /** The line as it is in the file. */
  readonly excerpt?: string;
};

export type Code = keyof typeof errorTable;
type FactsOf<C extends Code> = (typeof errorTable)[C] extends Entry<infer F> ? F : never;

/** `message` says what is wrong, `hint` how to fix it, `exit` is the command's exit code. */
export class RunsheetError extends Error {
  override readonly name: string = 'RunsheetError';
  readonly code: Code;
  readonly exit: number;
  readonly hint: string | undefined;
  readonly place: Place | undefined;

  constructor(
    code: Code,
    message: string,
    rest: { exit: number; hint?: string | undefined; place?: Place | undefined; cause?: unknown },
  ) {
    super(message, rest.cause === undefined ? {} : { cause: rest.cause });
    this.code = code;
    this.exit = rest.exit;
    this.hint = rest.hint;
    this.place = rest.place;
  }
}

/** Whether it is a RunsheetError, with this code if one is given. */
export const isRunsheetError = <C extends Code = Code>(
  error: unknown,
  code?: C,
): error is RunsheetError & { readonly code: C } =>
  error instanceof RunsheetError && (code === undefined || error.code === code);

/** Composes the error `code` from its facts; `place` says where in a sheet, `cause` what was caught. */
export function problem<C extends Code>(
  code: C,
  facts: FactsOf<C>,
  more: { place?: Place; cause?: unknown } = {},
): RunsheetError {
  const row = errorTable[code] as Entry<FactsOf<C>>;
  return new RunsheetError(code, row.what(facts), { exit: row.exit, hint: row.hint(facts), ...more });
}
