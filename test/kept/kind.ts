// A kind of thing that is kept: how it is made, and what comes back of it.

import type fc from 'fast-check';

export type Kind<T> = {
  readonly name: string;
  readonly made: fc.Arbitrary<T>;
  /** How many are tried (default: 40). */
  readonly runs?: number;
  /** Keeps it in this empty folder, and returns what another process would read. */
  readonly restored: (made: T, folder: string) => T | Promise<T>;
  /** What it does, which must be the same before and afterwards. */
  readonly behaves?: (value: T) => unknown;
};

/** Of any value, so that kinds are in one list. */
export type AnyKind = Kind<never>;
export const kind = <T>(of: Kind<T>): AnyKind => of as unknown as AnyKind;
