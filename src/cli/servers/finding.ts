// A part that doctor has checked.

import { RunsheetError, errorMessage } from '../../errors/error.ts';

export type Finding = {
  readonly part: string;
  readonly ok: boolean;
  readonly message: string;
  readonly hint?: string;
};

/** What the check says, or what it throws. */
export async function finding(part: string, check: () => Promise<string>): Promise<Finding> {
  try {
    return { part, ok: true, message: await check() };
  } catch (error) {
    const hint = error instanceof RunsheetError && error.hint ? { hint: error.hint } : {};
    return { part, ok: false, message: errorMessage(error), ...hint };
  }
}
