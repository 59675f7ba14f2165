// What the choice of canary rows looks at in the inputs of a row: short, so that thousands of rows fit in memory.

import { isRawNumber } from '../../batch/digits.ts';

/** A number; or a text by its length, with the text itself if it is short enough to be one of a few values. */
export type Trait = number | { readonly length: number; readonly word?: string };

/** By input. */
export type Traits = ReadonlyMap<string, Trait>;

/** Longer values are hardly one of a few values. */
const WORD_MOST = 64;

export const traitsOf = (inputs: Readonly<Record<string, unknown>>): Traits =>
  new Map(Object.entries(inputs).map(([input, value]) => [input, traitOf(value)]));

function traitOf(value: unknown): Trait {
  // An integer with more digits than a JavaScript number has is about as large.
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (typeof value === 'number') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > WORD_MOST ? { length: text.length } : { length: text.length, word: text };
}

/** A trait as one of a few values. */
export const wordOf = (trait: Trait): string | undefined =>
  typeof trait === 'number' ? String(trait) : trait.word;

/** A trait as a size: of a number its value, of a text its length. */
export const sizeOf = (trait: Trait): number => (typeof trait === 'number' ? trait : trait.length);

/** A row that may belong to the canary. */
export type Candidate = { readonly row: number; readonly lane: number; readonly traits: Traits };
