// Rows that a simulated user sends again: the passes of a batch, and which place replaced which.

import type { Outcome } from '../../src/batch/outcome.ts';
import { NO_TALLY, tallyOutcome, type Tally } from '../../src/batch/accounting/tally.ts';
import { lanesOf, placeIn, type PassSegment } from '../../src/batch/lanes.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import type { SimRecord, SimStore } from './store.ts';
import type { World } from './world.ts';

/** The first pass starts the batch. */
const FIRST_PASS = 1;
const PAGE = 100;
const ROWS_MOST = 20;

export class Passes {
  readonly #segments: PassSegment[][] = [];
  /** The place that a row had before, by its place. */
  readonly #before = new Map<number, number>();
  readonly #lastNumbers: number[];

  constructor(params: BatchParams) {
    this.#lastNumbers = lanesOf(params).map(({ segments }) =>
      segments.reduce((sum, { count }) => sum + count, 0),
    );
  }

  get newest(): number {
    return FIRST_PASS + this.#segments.length;
  }

  read(pass: number): readonly PassSegment[] {
    return this.#segments[pass - FIRST_PASS - 1] ?? [];
  }

  get places(): readonly number[] {
    return [...this.#before.keys()];
  }

  /** Adds rows that have a record, and no place that replaced it; false if there are none. */
  add(world: World, store: SimStore): boolean {
    const replaced = new Set(this.#before.values());
    const records = [...store.parts.values()].flatMap(({ rows }) => rows);
    const wanted = records
      .filter(({ end, outcome }) => outcome !== 'succeeded' && !replaced.has(end.place))
      .slice(0, world.between(1, ROWS_MOST));
    if (wanted.length === 0) return false;
    // Sometimes on a GPU that the batch did not have.
    const lane = world.between(0, Math.min(4, this.#lastNumbers.length + 1));
    const first = Math.ceil((this.#lastNumbers[lane] ?? 0) / PAGE) * PAGE + 1;
    this.#lastNumbers[lane] = first + wanted.length - 1;
    for (const [at, { end }] of wanted.entries()) this.#before.set(placeIn(lane, first + at), end.place);
    // All of them have a price in worlds with a limit of the cost.
    const gpu = world.pick(['A10G', 'H100']);
    this.#segments.push([{ lane, gpu, first, count: wanted.length }]);
    return true;
  }

  /** What these records change beside their own outcomes. */
  change(store: SimStore, records: readonly SimRecord[]): { readonly tally: Tally; readonly again: number } {
    const outcomes = new Map<number, Outcome>();
    for (const { rows } of store.parts.values())
      for (const { end, outcome } of rows) outcomes.set(end.place, outcome);
    const earlier = records.flatMap(({ end }) => outcomes.get(this.#before.get(end.place) ?? 0) ?? []);
    return {
      tally: earlier.reduce((sum, outcome) => tallyOutcome(sum, outcome, -1), NO_TALLY),
      again: earlier.length,
    };
  }
}
