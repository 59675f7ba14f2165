// Finds the word that the user most likely meant.

import { distance } from 'fastest-levenshtein';

/** The word in `words` nearest to `wrong`; undefined if all differ in more than `most` letters. */
export function nearest(
  wrong: string,
  words: readonly string[],
  // More than a third wrong letters, or all of them, means another word, not a typing error.
  most = Math.min(wrong.length - 1, Math.max(2, Math.floor(wrong.length / 3))),
): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = words
    .map((word) => ({ word, away: distance(lower, word.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
    .at(0);
  return ranked && ranked.away <= most ? ranked.word : undefined;
}
