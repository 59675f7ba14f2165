// Deterministic random numbers: the same seed and words always give the same number.

/** A number in [0, 1) from the seed and the words; similar words give unrelated numbers. */
export function chance(seed: number, ...words: readonly (string | number)[]): number {
  return hashOf(`${seed}/${words.join('/')}`) / 2 ** 32;
}

/** A stream of numbers in [0, 1) from one 32-bit seed (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Hashes a text to 32 bits with FNV-1a and the finalizer of MurmurHash3, because FNV alone mixes its high bits poorly. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
