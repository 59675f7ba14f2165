// A kind of thing that is kept: how it is made, and what comes back of it.

import type fc from 'fast-check';

export type KeptKind<T> = {
  readonly name: string;
  readonly made: fc.Arbitrary<T>;
  /** How many are tried (default: 40). */
  readonly runs?: number;
  /** Keeps it in this empty folder, and returns what another process would read. */
  readonly restored: (made: T, folder: string) => T | Promise<T>;
  /** The behaviour of the value, which must be the same before and afterwards. */
  readonly behaves?: (value: T) => unknown;
};

/** A kind of any value, so that all kinds fit into one list. */
export type AnyKind = KeptKind<never>;
export const kind = <T>(of: KeptKind<T>): AnyKind => of as unknown as AnyKind;
