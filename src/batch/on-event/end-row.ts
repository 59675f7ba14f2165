// Gives a row its outcome; the row then waits to be collected.

import { clipped } from '../../options/clipped.ts';
import { countFailure } from '../failure-counts.ts';
import type { FailureKind } from '../../options/failure-kind.ts';
import { OUTCOME_CLASS, type Outcome } from '../outcome.ts';
import { baseOf, type Base } from '../state/row-state.ts';
import { put } from '../state/put-row.ts';
import type { State } from '../state/state.ts';
import { reasonBytes } from '../state/state-size.ts';

type End = {
  readonly outcome: Outcome;
  readonly failure?: FailureKind | undefined;
  readonly runId?: string | undefined;
  readonly reason?: string | undefined;
};

export function endRow(state: State, row: Base, end: End): void {
  const { outcome, runId } = end;
  const reason = end.reason && clipped(end.reason, reasonBytes(state));
  const facts = { ...(runId === undefined ? {} : { runId }), ...(reason ? { reason } : {}) };
  put(state, { ...baseOf(row), phase: 'ended', at: state.now, outcome, ...facts });
  state.failures = countFailure(state.failures, end);
  const { all, bad } = state.endings;
  // What the user cancelled is no failure.
  const isBad = outcome !== 'cancelled' && OUTCOME_CLASS[outcome] !== 'good';
  state.endings = { all: all + 1, bad: bad + Number(isBad) };
  if (outcome !== 'succeeded')
    state.lastFailure = { place: row.place, outcome, ...(reason ? { reason } : {}) };
}
