// R13: a second run of one attempt, or a run of an attempt that was written off. Nobody wanted it and somebody pays for it:
// it is cancelled if it still runs, and reported in any case. Attempts that were written off are remembered until the batch
// closes; what is forgotten before that is found by the last reading of the lists.

import { ABANDONED_MAX, TWINS_MAX } from './limits.ts';
import { enterTwin } from './ledger.ts';
import type { AttemptName, Command, Seen } from './messages.ts';
import type { PastAttempt } from './outcome.ts';
import type { State } from './state.ts';

const ABANDONED = 'abandoned';

export const nameOf = ({ row, attempt }: AttemptName): string => `${row}/${attempt}`;

/** The attempt was written off without knowing whether it is a run. */
export function abandon(state: State, name: AttemptName): void {
  state.abandoned.add(nameOf(name));
  const [oldest] = state.abandoned.size > ABANDONED_MAX ? state.abandoned : [];
  if (oldest !== undefined) state.abandoned.delete(oldest);
}

/** Whether this run is another one than the attempt is known by. */
export function isTwin(state: State, seen: Seen): boolean {
  const known = knownBy(state, seen);
  return known !== undefined && known !== seen.runId;
}

/** Reports a twin, once; it is cancelled unless it has ended. */
export function reportTwin(state: State, twin: Seen, hasEnded: boolean): readonly Command[] {
  if (state.twins.some(({ runId }) => runId === twin.runId)) return [];
  const { row, attempt, runId } = twin;
  state.ledger = enterTwin(state.ledger);
  if (state.twins.length < TWINS_MAX) state.twins.push({ row, attempt, runId });
  return hasEnded ? [] : [{ type: 'cancelRuns', runs: [{ row, attempt, runId }] }];
}

/** Of the runs that were seen while an attempt was sent, all but its own are twins. */
export const reportOthers = (
  state: State,
  { row, attempt, seen = [] }: AttemptName & { readonly seen?: readonly string[] },
  own: string,
): readonly Command[] =>
  seen.filter((runId) => runId !== own).flatMap((runId) => reportTwin(state, { row, attempt, runId }, false));

/** The run that the attempt is known by; undefined where it has none yet, or is not remembered. */
function knownBy(state: State, name: AttemptName): string | undefined {
  if (state.abandoned.has(nameOf(name))) return ABANDONED;
  const early = state.early.get(nameOf(name));
  if (early !== undefined) return early;
  const entry = state.entries.get(name.row);
  if (entry?.attempt !== name.attempt)
    return (entry?.past ?? inParts(state, name.row)).find(({ attempt }) => attempt === name.attempt)?.runId;
  // While it is being sent, its answer will tell which of the runs that were seen is its own.
  return entry.phase === 'running' || entry.phase === 'ended' ? entry.runId : undefined;
}

/** The attempts of a row that is being collected. */
const inParts = ({ parts }: State, row: number): readonly PastAttempt[] =>
  [...parts.values()].flatMap((rows) =>
    rows.filter((end) => end.row === row).flatMap(({ attempts }) => attempts),
  );
