// The word that somebody may have meant.

import { distance } from 'fastest-levenshtein';

/** The word among `words` that `wrong` was most likely meant to be; undefined where none is within `most` letters. */
export function nearest(
  wrong: string,
  words: readonly string[],
  // A third of the letters wrong is still a slip of the hand; more is another word.
  most = Math.max(2, Math.floor(wrong.length / 3)),
): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = words
    .map((word) => ({ word, away: distance(lower, word.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
    .at(0);
  return ranked && ranked.away <= most ? ranked.word : undefined;
}
