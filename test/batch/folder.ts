// Simulates the batch folder. A part is created once: a second try returns the content of the first.

import { NO_TALLY, tallyOutcome, tallyUse, type Tally } from '../../src/batch/accounting/tally.ts';
import type { DeferredRow, PartResult } from '../../src/batch/events.ts';
import type { Outcome, AttemptRun } from '../../src/batch/outcome.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';

/** The result of fetching a row's files: `host` and `file` are the kinds of failure. */
type Fetch = 'fetched' | 'empty' | DeferredRow['kind'];

/** The result of fetching the files, for all rows of a part or for each row. */
export type Fetched = Fetch | ((place: number) => Fetch);

const fetchOf = (fetch: Fetched, place: number): Fetch => (typeof fetch === 'string' ? fetch : fetch(place));

type FolderPart = {
  readonly rows: ReadonlySet<number>;
  readonly tally: Tally;
  readonly fetched: number;
  readonly unpriced: readonly number[];
  readonly costs: readonly (readonly [place: number, nano: number])[];
};

export class Folder {
  readonly rows = new Map<number, EndedRow>();
  readonly outcomes = new Map<number, Outcome>();
  readonly evidence = new Map<string, AttemptRun>();
  /** Rows that were written into two parts. */
  readonly repeated: number[] = [];
  readonly #parts = new Map<number, FolderPart>();
  /** The cost of each run in US dollars; undefined if the records of runs do not contain it. */
  costUsd: number | undefined = 0;

  keep(runs: readonly AttemptRun[]): void {
    for (const run of runs) this.evidence.set(run.runId, run);
  }

  write(number: number, rows: readonly EndedRow[], fetch: Fetched): PartResult {
    const part = this.#parts.get(number) ?? this.#create(number, rows, fetch);
    const missing = rows.filter(({ place }) => !part.rows.has(place));
    return {
      tally: part.tally,
      fetched: part.fetched,
      unpriced: part.unpriced,
      costs: part.costs,
      deferred: missing.map(({ place }) => {
        const fetched = fetchOf(fetch, place);
        if (fetched === 'empty') return { place, kind: 'file', reason: 'no file', isEmpty: true };
        const kind = fetched === 'fetched' ? 'host' : fetched;
        return { place, kind, reason: `the ${kind} is away` };
      }),
    };
  }

  #create(number: number, rows: readonly EndedRow[], fetch: Fetched): FolderPart {
    let [tally, fetched] = [NO_TALLY, 0];
    const unpriced: number[] = [];
    const costs: (readonly [number, number])[] = [];
    const written = new Set<number>();
    for (const end of rows) {
      const outcome = outcomeOf(end, fetchOf(fetch, end.place));
      if (outcome === undefined) continue;
      if (this.rows.has(end.place)) this.repeated.push(end.place);
      written.add(end.place);
      this.rows.set(end.place, end);
      this.outcomes.set(end.place, outcome);
      tally = tallyOutcome(tally, outcome);
      if (outcome === 'succeeded') fetched += 1;
      for (const { runId, outcome: ended } of end.attempts) {
        if (runId === undefined || ended === 'unknown') continue;
        if (this.costUsd === undefined) unpriced.push(end.place);
        else {
          costs.push([end.place, this.costUsd * 1e9]);
          tally = tallyUse(tally, 'A10G', { runs: 1, seconds: 1, costUsd: this.costUsd });
        }
      }
    }
    const part = { rows: written, tally, fetched, unpriced, costs };
    this.#parts.set(number, part);
    return part;
  }
}

/** undefined if the row must be collected again later. */
function outcomeOf({ attempts, isLastTry }: EndedRow, fetch: Fetch): Outcome | undefined {
  const last = attempts.at(-1)?.outcome;
  if (last === undefined || last === 'absent') throw new Error('a row was collected without an outcome');
  if (last !== 'succeeded' || fetch === 'fetched') return last;
  return isLastTry ? 'failed' : undefined;
}
