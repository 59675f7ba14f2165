import type { State } from '../state/state.ts';

/** The answer of a limit on sending: at most `most` attempts, not before `at` (by the batch's clock). */
export type Allowance = { readonly at: number; readonly most: number };
export type Limit = (state: State) => Allowance;

export const FREE: Allowance = { at: 0, most: Number.POSITIVE_INFINITY };

/** Nothing may be sent until an event changes that. */
export const NOT_NOW: Allowance = { at: Number.POSITIVE_INFINITY, most: 0 };
