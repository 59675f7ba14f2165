// Chooses the rows of a canary while the rows of a sheet stream by. They cover every GPU, the extremes of each input and each of a
// few values; where one row is as good as another, the one that is most like all others is taken. Such rows are no random
// sample, so each one also says how many rows are more like it than like the other chosen ones: a forecast counts it so often.

import { chance } from '../../batch/retry-policy.ts';
import { InputSpan, WORTH, type Goal } from './input-span.ts';
import { likenessOf, type Point } from './likeness.ts';
import type { Candidate } from './row-traits.ts';

export type ChosenRow = {
  readonly row: number;
  readonly lane: number;
  /** What it is chosen for; empty: it is like many others. */
  readonly why: readonly string[];
  /** The share of the rows of its lane that it stands for. */
  readonly share: number;
};

/** Rows to compare all others with. */
const SAMPLE_ROWS = 300;

export class SpanningRows {
  readonly #spans = new Map<string, InputSpan>();
  readonly #lanes = new Map<number, Candidate>();
  readonly #sample: Candidate[] = [];
  #rows = 0;
  #first: Candidate | undefined;

  add(candidate: Candidate): void {
    this.#rows += 1;
    if (!this.#lanes.has(candidate.lane)) this.#lanes.set(candidate.lane, candidate);
    for (const input of candidate.traits.keys()) if (!this.#spans.has(input)) this.#begin(input);
    for (const [input, span] of this.#spans) span.add(candidate.traits.get(input), candidate);
    this.#first ??= candidate;
    // Each row has the same chance to be in the sample.
    const at = this.#rows <= SAMPLE_ROWS ? this.#rows - 1 : Math.floor(chance(candidate.row) * this.#rows);
    if (at < SAMPLE_ROWS) this.#sample[at] = candidate;
  }

  /** All rows if there are no more than `most`. */
  choose(most: number): readonly ChosenRow[] {
    const spans = [...this.#spans.values()];
    const goals = [...this.#laneGoals(), ...spans.flatMap((span) => span.goals())];
    const byRow = new Map([...goals.map(({ row }) => row), ...this.#sample].map((one) => [one.row, one]));
    const candidates = [...byRow.values()].sort((a, b) => a.row - b.row);
    const { pointOf, distance, farthest } = likenessOf(this.#sample, spans);
    const points = candidates.map(pointOf);
    const sample = this.#sample.map(pointOf);
    const nearest = sample.map(() => farthest * 2);
    const closerBy = (point: Point): number =>
      sample.reduce((sum, one, at) => sum + Math.max(0, (nearest[at] ?? 0) - distance(point, one)), 0);
    const chosen: { readonly at: number; readonly why: readonly string[] }[] = [];
    const left = new Set(candidates.keys());
    let open: readonly Goal[] = goals;
    while (chosen.length < Math.min(most, candidates.length)) {
      const best = bestOf(left, {
        worth: (at) =>
          open.reduce(
            (sum, goal) => sum + (goal.isCoveredBy(candidates[at] as Candidate) ? goal.worth : 0),
            0,
          ),
        gain: (at) => closerBy(points[at] as Point),
      });
      const candidate = candidates[best] as Candidate;
      left.delete(best);
      chosen.push({
        at: best,
        why: open.filter((goal) => goal.isCoveredBy(candidate)).flatMap(({ why }) => why),
      });
      open = open.filter((goal) => !goal.isCoveredBy(candidate));
      for (const [at, one] of sample.entries())
        nearest[at] = Math.min(nearest[at] ?? 0, distance(points[best] as Point, one));
    }
    const shares = sharesOf(
      chosen.map(({ at }) => points[at] as Point),
      sample,
      distance,
    );
    return chosen.map(({ at, why }, index) => {
      const { row, lane } = candidates[at] as Candidate;
      return { row, lane, why, share: shares[index] ?? 0 };
    });
  }

  #begin(input: string): void {
    const span = new InputSpan(input);
    if (this.#first !== undefined) span.add(undefined, this.#first);
    this.#spans.set(input, span);
  }

  #laneGoals(): readonly Goal[] {
    if (this.#lanes.size < 2) return [];
    return [...this.#lanes].map(([lane, row]) => ({
      why: [],
      worth: WORTH.lane,
      row,
      isCoveredBy: (candidate) => candidate.lane === lane,
    }));
  }
}

type Scores = { readonly worth: (at: number) => number; readonly gain: (at: number) => number };

/** The one that is worth most, and of several the one with the most gain, which takes long to compute. */
function bestOf(left: Iterable<number>, { worth, gain }: Scores): number {
  let [most, ties]: [number, number[]] = [-1, []];
  for (const at of left) {
    const own = worth(at);
    if (own > most) [most, ties] = [own, [at]];
    else if (own === most) ties.push(at);
  }
  const [first = 0, ...others] = ties;
  if (others.length === 0) return first;
  let [best, highest] = [first, gain(first)];
  for (const at of others) {
    const own = gain(at);
    if (own > highest) [best, highest] = [at, own];
  }
  return best;
}

/** The share of each chosen row among the rows of its lane. A row that is as near to two of them counts half for each. */
function sharesOf(
  chosen: readonly Point[],
  sample: readonly Point[],
  distance: (a: Point, b: Point) => number,
): readonly number[] {
  const counts = chosen.map(() => 1);
  for (const point of sample) {
    const own = chosen.flatMap((one, at) =>
      one.lane === point.lane ? [{ at, far: distance(one, point) }] : [],
    );
    const least = Math.min(...own.map(({ far }) => far));
    const ties = own.filter(({ far }) => far <= least + 1e-9);
    for (const { at } of ties) counts[at] = (counts[at] ?? 0) + 1 / ties.length;
  }
  return counts.map((count, at) => {
    const lane = chosen[at]?.lane;
    const all = counts.reduce((sum, other, index) => sum + (chosen[index]?.lane === lane ? other : 0), 0);
    return count / all;
  });
}
