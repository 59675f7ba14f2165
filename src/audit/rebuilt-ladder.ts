// What a rebuilt batch knows about its ladder: the rungs that its rows needed, from its parts and from the GPUs of its runs.

import { relearn, rungNow } from '../batch/ladder.ts';
import { laneWith } from '../batch/state/lanes.ts';
import type { PastAttempt } from '../batch/outcome.ts';
import { onRung, type RowState } from '../batch/state/row-state.ts';
import { spendInFull } from '../batch/state/parts-in-flight.ts';
import type { State } from '../batch/state/state.ts';
import { spentInFullIn } from '../results/tally-rows.ts';
import type { AttemptRecord, PartRecord } from '../results/row-record.ts';
import { outcomeOf } from '../run-service/run-outcome.ts';
import type { OwnRun } from './list-runs.ts';

/** The rung of an attempt in a part; -1 if it was on none. */
const rungOfRecord = ({ params }: State, { gpu_asked = '' }: AttemptRecord): number =>
  (params.ladder ?? []).indexOf(gpu_asked);

/** Also counts the attempts whose cost nothing says. */
export function learnFromRecord(state: State, record: PartRecord & { readonly place: number }): void {
  const { place, attempts, before } = record;
  for (const attempt of spentInFullIn(record)) spendInFull(state, place, rungOfRecord(state, attempt));
  for (const attempt of attempts.slice(before?.attempts ?? 0)) {
    const { outcome, failure } = attempt;
    relearn(state, place, rungOfRecord(state, attempt), {
      outcome: outcome === 'absent' ? 'cancelled' : outcome,
      failure,
    });
  }
}

/** The run list names the GPU that a run used. The log, which says why a run failed, is not read. */
export function learnFromRun(state: State, { place, run }: OwnRun): void {
  const end = outcomeOf(run);
  const rung = (state.params.ladder ?? []).indexOf(run.gpu ?? '');
  relearn(state, place, rung, { outcome: end.kind === 'ended' ? end.outcome : 'cancelled' });
}

/** A row with the rungs of its attempts; an attempt that has no run yet starts where its lane is. */
export function withRungs(state: State, row: RowState, runs: readonly OwnRun[]): RowState {
  if (laneWith(state, row.place).climb === undefined) return row;
  const { ladder = [] } = state.params;
  const rungOf = (attempt: number): number => {
    const run = runs.find((one) => one.attempt === attempt)?.run;
    return Math.max(0, ladder.indexOf(run?.gpu ?? ''));
  };
  const past: readonly PastAttempt[] = row.past.map((one) => ({ ...one, rung: rungOf(one.attempt) }));
  const rung = row.phase === 'waiting' ? rungNow(state, row.place) : rungOf(row.attempt);
  return { ...row, past, ...onRung(rung) };
}
