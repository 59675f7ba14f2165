import { distance } from 'fastest-levenshtein';

/** The word among `words` that `wrong` was most likely meant to be; undefined where none is near. */
export function nearest(wrong: string, words: readonly string[]): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = words
    .map((word) => ({ word, away: distance(lower, word.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
    .at(0);
  // A third of the letters wrong is still a slip of the hand; more is another word.
  return ranked && ranked.away <= Math.max(2, Math.floor(wrong.length / 3)) ? ranked.word : undefined;
}
