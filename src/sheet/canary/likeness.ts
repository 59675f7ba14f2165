// How alike rows are: for each input 0 if they have the same value, up to 1; sizes are compared by their ranks among all rows.

import type { InputSpan } from './input-span.ts';
import { sizeOf, wordOf, type Candidate } from './row-traits.ts';

/** The coordinates of a row: of each input its rank, or the number of its value. */
export type Point = { readonly lane: number; readonly at: readonly number[] };

export type Likeness = {
  /** Rows of different lanes have nothing in common. */
  readonly farthest: number;
  pointOf(candidate: Candidate): Point;
  distance(a: Point, b: Point): number;
};

export function likenessOf(sample: readonly Candidate[], spans: readonly InputSpan[]): Likeness {
  const inputs = spans.filter((span) => !span.isConstant);
  const axes = inputs.map((span) => (span.isChoice ? choiceAxis(span) : rankAxis(span, sample)));
  const isChoice = inputs.map((span) => span.isChoice);
  const farthest = inputs.length + 1;
  return {
    farthest,
    pointOf: (candidate) => ({ lane: candidate.lane, at: axes.map((axis) => axis(candidate)) }),
    distance: (a, b) => {
      if (a.lane !== b.lane) return farthest;
      let sum = 0;
      for (let axis = 0; axis < isChoice.length; axis += 1) {
        const apart = Math.abs((a.at[axis] ?? 0) - (b.at[axis] ?? 0));
        sum += isChoice[axis] ? Number(apart > 0) : apart;
      }
      return sum;
    },
  };
}

type Axis = (candidate: Candidate) => number;

function choiceAxis({ input }: InputSpan): Axis {
  const numbers = new Map<string, number>();
  return ({ traits }) => {
    const trait = traits.get(input);
    const word = (trait === undefined ? '' : wordOf(trait)) ?? '';
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
}

/** The share of rows that are smaller, and half of those that are as large. */
function rankAxis({ input }: InputSpan, sample: readonly Candidate[]): Axis {
  const sizeIn = ({ traits }: Candidate): number => {
    const trait = traits.get(input);
    return trait === undefined ? Number.NEGATIVE_INFINITY : sizeOf(trait);
  };
  const sizes = Float64Array.from(sample, sizeIn).sort();
  return (candidate) => {
    const size = sizeIn(candidate);
    return (countBelow(sizes, size) + countBelow(sizes, size, true)) / 2 / sizes.length;
  };
}

function countBelow(sorted: Float64Array, size: number, orEqual = false): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = sorted[middle] ?? 0;
    if (value < size || (orEqual && value === size)) low = middle + 1;
    else high = middle;
  }
  return low;
}
