// The shape of an entry in the error table, and helpers that several entries share.

/** Exit codes of the command line, as in `runsheet --help`. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  someRowsFailed: 3,
  doesNotHold: 3,
  notAuthenticated: 4,
  inputRefused: 5,
  unreachable: 6,
  waitedTooLong: 7,
  paused: 8,
  interrupted: 130,
} as const;

type Text = readonly [what: string, hint: string | undefined];
export type ErrorEntry<F> = { readonly exit: number; text(facts: F): Text };

export const entry = <F>(exit: number, text: (facts: F) => Text): ErrorEntry<F> => ({ exit, text });

/** The throwing code provides message and hint. */
export const textFromThrower = (exit: number): ErrorEntry<{ what: string; hint?: string }> =>
  entry(exit, (f) => [f.what, f.hint]);

/** A sheet or a service may have thousands of names. */
const MAX_LISTED = 30;

/** Joins the first {@link MAX_LISTED} words and counts the rest. */
export function list(words: readonly string[], between = ', '): string {
  const more = words.length - MAX_LISTED;
  return [...words.slice(0, MAX_LISTED), ...(more > 0 ? [`… and ${more} more`] : [])].join(between);
}

export const didYouMean = (near: string | undefined): string | undefined => near && `did you mean ${near}?`;

export const sentences = (...parts: readonly (string | undefined)[]): string =>
  parts.filter(Boolean).join(' ');
