// The records of simulated parts as real code reads them, when it rebuilds a batch.

import { recordAgain, type PartRecord } from '../../src/results/row-record.ts';
import type { Passes } from './again.ts';
import type { SimService } from './service.ts';
import type { SimRecord } from './store.ts';

export class PartRecords {
  readonly #passes: Passes;
  readonly #service: SimService;
  readonly #ladder: readonly string[];
  readonly #byPlace = new Map<number, PartRecord>();

  constructor(passes: Passes, service: SimService, ladder: readonly string[] = []) {
    this.#passes = passes;
    this.#service = service;
    this.#ladder = ladder;
  }

  /** The lines of a part with these rows. */
  linesOf(rows: readonly SimRecord[]): string {
    return rows
      .map((row) => this.#recordOf(row))
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
  }

  #recordOf({ end, outcome }: SimRecord): PartRecord {
    const { place } = end;
    const row = this.#passes.rowOf(place);
    const own = {
      row,
      ...(place === row ? {} : { place }),
      outcome,
      attempts: end.attempts.map((past) => ({
        attempt: past.attempt,
        outcome: past.outcome,
        ...(past.runId === undefined ? {} : this.#runOf(past.runId)),
        ...(past.rung === undefined ? {} : { gpu_asked: this.#ladder[past.rung] ?? '' }),
      })),
      files: [],
    } satisfies PartRecord;
    const before = this.#byPlace.get(this.#passes.placeBefore(place) ?? 0);
    const record = before === undefined ? own : this.#again(before, own);
    this.#byPlace.set(place, record);
    return record;
  }

  #runOf(runId: string): Pick<PartRecord['attempts'][number], 'run_id' | 'ended_at'> {
    const run = this.#service.byId.get(runId);
    return { run_id: runId, ...(run && { ended_at: new Date(run.updatedAtMs).toISOString() }) };
  }

  /** A row whose files are fetched again has bought nothing. */
  #again(before: PartRecord, own: PartRecord): PartRecord {
    if (this.#passes.fetchedAt(own.place ?? own.row) === undefined) return recordAgain(before, own);
    const { outcome } = own.outcome === 'succeeded' ? own : before;
    const had = { outcome: before.outcome, attempts: before.attempts.length };
    return { ...before, ...(own.place === undefined ? {} : { place: own.place }), outcome, before: had };
  }
}
