// What an entry of the catalogue is, and the words that several entries are made of.

export type Entry<F> = { readonly exit: number; what(facts: F): string; hint(facts: F): string | undefined };

export const entry = <F>(exit: number, what: Entry<F>['what'], hint: Entry<F>['hint']): Entry<F> => ({
  exit,
  what,
  hint,
});

/** The place that throws it says what is wrong and what helps. */
export const saidThere = (exit: number): Entry<{ what: string; hint?: string }> =>
  entry(
    exit,
    (f) => f.what,
    (f) => f.hint,
  );

/** Names in a message; a sheet or a service may have thousands. */
const MOST_LISTED = 30;

/** Words one after the other, as many as a message has room for. */
export function list(words: readonly string[], between = ', '): string {
  const more = words.length - MOST_LISTED;
  return [...words.slice(0, MOST_LISTED), ...(more > 0 ? [`… and ${more} more`] : [])].join(between);
}

export const didYouMean = (near: string | undefined): string | undefined => near && `did you mean ${near}?`;
