// Rows that a simulated user sends again or appends: the passes of a batch, and which place replaced which.

import type { Outcome } from '../../src/batch/outcome.ts';
import { NO_TALLY, tallyOutcome, type Tally } from '../../src/batch/accounting/tally.ts';
import { laneOf, lanesOf, numberOf, placeIn, type PassSegment } from '../../src/batch/state/lanes.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { replaces, isFetched } from '../../src/results/row-record.ts';
import { passName } from '../../src/store/passes.ts';
import type { SimRecord, SimStore } from './store.ts';
import type { World } from './world.ts';

/** The first pass starts the batch. */
const FIRST_PASS = 1;
const PAGE = 100;
const MAX_ROWS = 20;

type Pass = { readonly segments: readonly PassSegment[]; readonly appended: number };

/** A pass of a rebuild adds no rows. */
const REBUILD: Pass = { segments: [], appended: 0 };

export class Passes {
  readonly #passes: Pass[] = [];
  readonly #appended: number[] = [];
  /** The place that a row had before, by its place. */
  readonly #before = new Map<number, number>();
  /** The paid run whose files a place fetches, by the place. */
  readonly #fetched = new Map<number, string>();
  readonly #lastNumbers: number[];
  /** The number of the row that was first at a place. */
  readonly #rows = new Map<number, number>();

  constructor(params: BatchParams) {
    for (const [lane, { segments }] of lanesOf(params).entries())
      for (const { first, count } of segments)
        for (let at = 0; at < count; at += 1) this.#rows.set(placeIn(lane, first + at), this.#rows.size + 1);
    this.#lastNumbers = lanesOf(params).map(({ segments }) =>
      segments.reduce((sum, { count }) => sum + count, 0),
    );
  }

  get newest(): number {
    return FIRST_PASS + this.#passes.length;
  }

  read(pass: number): Pass {
    return this.#passes[pass - FIRST_PASS - 1] ?? { segments: [], appended: 0 };
  }

  get places(): readonly number[] {
    return [...this.#before.keys(), ...this.#appended];
  }

  /** The pass that sends this place. */
  passOf(place: number): number {
    const [lane, number] = [laneOf(place), numberOf(place)];
    const at = this.#passes.findIndex(({ segments }) =>
      segments.some(
        (segment) =>
          segment.lane === lane && number >= segment.first && number < segment.first + segment.count,
      ),
    );
    return FIRST_PASS + 1 + at;
  }

  placeBefore(place: number): number | undefined {
    return this.#before.get(place);
  }

  rowOf(place: number): number {
    return this.#rows.get(this.firstPlaceOf(place)) ?? 0;
  }

  /** A rebuild has created a pass of its own. */
  addRebuild(): void {
    this.#passes.push(REBUILD);
  }

  fetchedAt(place: number): string | undefined {
    return this.#fetched.get(place);
  }

  /** How many rows the passes up to this one have appended. */
  appendedThrough(pass: number): number {
    return this.#passes.slice(0, pass - FIRST_PASS).reduce((sum, { appended }) => sum + appended, 0);
  }

  /** Adds rows that have a record, and no place that replaced it, and sometimes new rows; false if there are none. */
  add(world: World, store: SimStore, mayAppend = true): boolean {
    const replaced = new Set(this.#before.values());
    const records = store.parts.flatMap(({ rows }) => rows);
    const best = this.results(store);
    // `retry --outcome succeeded` sends rows again that have a result already.
    const isAll = world.chance(0.5);
    const wanted = records
      .filter(({ end }) => !replaced.has(end.place) && (isAll || best.get(end.place) !== 'succeeded'))
      .slice(0, world.between(1, MAX_ROWS));
    const appended = mayAppend && world.chance(0.4) ? world.between(1, MAX_ROWS) : 0;
    if (wanted.length + appended === 0) return false;
    if (appended > 0) world.saw('rows appended');
    // Sometimes on a GPU that the batch did not have.
    const lane = world.between(0, Math.min(4, this.#lastNumbers.length + 1));
    // All of them have a price in worlds with a limit of the cost.
    const gpu = world.pick(['A10G', 'H100']);
    const segments: PassSegment[] = [];
    const take = (count: number, isNew: boolean): number => {
      const first = Math.ceil((this.#lastNumbers[lane] ?? 0) / PAGE) * PAGE + 1;
      if (count === 0) return first;
      this.#lastNumbers[lane] = first + count - 1;
      segments.push({ lane, gpu, first, count, ...(isNew ? { isNew } : {}) });
      return first;
    };
    const fresh = take(appended, true);
    for (let at = 0; at < appended; at += 1) {
      const place = placeIn(lane, fresh + at);
      this.#appended.push(place);
      this.#rows.set(place, this.#rows.size + 1);
    }
    const again = take(wanted.length, false);
    for (const [at, { end, outcome }] of wanted.entries()) {
      const place = placeIn(lane, again + at);
      this.#before.set(place, end.place);
      const last = end.attempts.at(-1);
      const paid = this.#fetched.get(end.place) ?? (last?.outcome === 'succeeded' ? last.runId : undefined);
      // Only its files are missing; sometimes the user wants a new run instead.
      if (outcome === 'failed' && paid !== undefined && world.chance(0.9)) this.#fetched.set(place, paid);
    }
    this.#passes.push({ segments, appended });
    const file = { at: new Date(world.now).toISOString(), kind: appended > 0 ? 'append' : 'retry', segments };
    const added = appended > 0 ? { appended: { folder: `p${this.newest}`, rows: appended } } : {};
    store.put(passName(this.newest), { ...file, ...added });
    return true;
  }

  /** The changes that these records make besides their own outcomes: a row keeps its best result. */
  change(
    world: World,
    store: SimStore,
    records: readonly SimRecord[],
  ): { readonly tally: Tally; readonly again: number; readonly fetched: number } {
    const best = this.results(store);
    let [tally, again, fetched] = [NO_TALLY, 0, 0];
    for (const record of records) {
      const earlier = best.get(this.#before.get(record.end.place) ?? 0);
      if (isFetched(this.#asWritten(record, earlier))) fetched += 1;
      if (earlier === undefined) continue;
      again += 1;
      const isKept = betterOf(record, earlier) !== record.outcome;
      if (earlier === 'succeeded') world.saw(`a success sent again: ${record.outcome}`);
      tally = tallyOutcome(tally, isKept ? record.outcome : earlier, -1);
    }
    return { tally, again, fetched };
  }

  /** The files in a row's line of the part; `earlier`: the result that the row had before. */
  #asWritten({ end, outcome }: SimRecord, earlier: Outcome | undefined): Parameters<typeof isFetched>[0] {
    const attempts = this.#fetched.has(end.place) ? [] : end.attempts;
    if (earlier === undefined) return { outcome, attempts };
    const best = betterOf({ end, outcome }, earlier);
    const before = { outcome: earlier, attempts: 0 };
    return { outcome: best, attempts, before, ...(best === outcome ? {} : { result_attempt: 0 }) };
  }

  /** The result of a row after each of its places that has a record. */
  results(store: SimStore): ReadonlyMap<number, Outcome> {
    const best = new Map<number, Outcome>();
    // Parts are in the order in which they were written, so that the earlier place of a row comes first.
    for (const { rows } of store.parts)
      for (const record of rows) {
        const { place } = record.end;
        best.set(place, betterOf(record, best.get(this.#before.get(place) ?? 0)));
      }
    return best;
  }

  /** How many rows have ever succeeded, at whichever of their places. */
  successes(store: SimStore): number {
    const rows = new Set<number>();
    for (const { rows: records } of store.parts)
      for (const { end, outcome } of records)
        if (outcome === 'succeeded') rows.add(this.firstPlaceOf(end.place));
    return rows.size;
  }

  /** The place at which a row was sent first. */
  firstPlaceOf(place: number): number {
    const before = this.#before.get(place);
    return before === undefined ? place : this.firstPlaceOf(before);
  }
}

function betterOf({ end, outcome }: SimRecord, earlier: Outcome | undefined): Outcome {
  if (earlier === undefined) return outcome;
  const hasRun = end.attempts.some(({ runId }) => runId !== undefined);
  return replaces({ outcome, hasRun }, { outcome: earlier }) ? outcome : earlier;
}
