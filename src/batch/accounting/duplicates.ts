// Decides whether a run belongs to a row (R13, R26). A run that carries the token of an attempt is the row's own run, a
// duplicate (a second run of the attempt, or a run of an attempt that was abandoned), or belongs to a row that is no
// longer in the state. The store keeps the last kind until the close, which knows all rows. Duplicates are reported and
// cancelled.

import { type PastAttempt, attemptKey, type AttemptRef, type AttemptRun } from '../outcome.ts';
import { spendInFull } from '../state/put-row.ts';
import type { State } from '../state/state.ts';
import { enterDuplicate } from './request-ledger.ts';

/** How many abandoned attempts, and how many reported duplicates, the state remembers. */
export const MAX_ABANDONED = 2_000;
export const MAX_REPORTED = 2_000;

/** How many cancels may wait; the close cancels any duplicates beyond that. */
export const MAX_CANCELS = 2_000;

/** How many runs may wait to be written for the close; only a long outage of the store produces more. */
export const MAX_EVIDENCE = 2_000;

/** `open`: the attempt has no run yet · `own`: it is the attempt's run · `later`: only the close can decide. */
export type Belonging = 'open' | 'own' | 'duplicate' | 'later';

export function belongingOf(state: State, run: AttemptRun): Belonging {
  if (state.abandoned.has(attemptKey(run))) return 'duplicate';
  const row = state.rows.get(run.place);
  if (row === undefined) return amongPast(collecting(state, run.place), run);
  if (row.attempt !== run.attempt) return amongPast(row.past, run);
  switch (row.phase) {
    case 'waiting':
    case 'sending':
    case 'unconfirmed':
      return 'open';
    case 'running':
    case 'ended':
      return row.runId === run.runId ? 'own' : 'duplicate';
  }
}

/** If a past attempt ended without a run, a run that appears later is a duplicate. */
function amongPast(past: readonly PastAttempt[] | undefined, run: AttemptRun): Belonging {
  const pastAttempt = past?.find(({ attempt }) => attempt === run.attempt);
  if (pastAttempt === undefined) return 'later';
  return pastAttempt.runId === run.runId ? 'own' : 'duplicate';
}

/** The attempts of a row whose part is being written. */
function collecting({ parts }: State, row: number): readonly PastAttempt[] | undefined {
  for (const rows of parts.values()) {
    const collected = rows.find((candidate) => candidate.place === row);
    if (collected) return collected.attempts;
  }
  return undefined;
}

/** Remembers an attempt that was abandoned: a run of it that appears later is a duplicate. */
export function rememberAbandoned(state: State, attempt: AttemptRef): void {
  remember(state.abandoned, attemptKey(attempt), MAX_ABANDONED);
}

/** Reports a duplicate run once, and cancels it unless it has ended. */
export function reportDuplicate(
  state: State,
  { place, attempt, runId }: AttemptRun,
  hasEnded: boolean,
): void {
  if (!state.reported.has(runId)) {
    remember(state.reported, runId, MAX_REPORTED);
    state.ledger = enterDuplicate(state.ledger);
    spendInFull(state, place, rungOf(state, { place, attempt }));
    keepEvidence(state, { place, attempt, runId });
  }
  const hasRoom = state.cancels.size < MAX_CANCELS;
  if (!hasEnded && hasRoom) cancelRun(state, { place, attempt, runId });
}

/** The rung of an attempt; undefined without a ladder, and for a row that is no longer in the state. */
function rungOf(state: State, { place, attempt }: AttemptRef): number | undefined {
  const row = state.rows.get(place);
  if (row?.attempt === attempt) return row.rung;
  const past = row?.past ?? collecting(state, place);
  return past?.find((earlier) => earlier.attempt === attempt)?.rung;
}

/** Reports all runs that were seen for an attempt, except its own, as duplicates. */
export function reportOthers(
  state: State,
  { place, attempt, seen = [] }: AttemptRef & { readonly seen?: readonly string[] },
  own: string,
): void {
  for (const runId of seen) if (runId !== own) reportDuplicate(state, { place, attempt, runId }, false);
}

/** Keeps a run for the close, which compares it with the runs of all rows. */
export function keepEvidence(state: State, { place, attempt, runId }: AttemptRun): void {
  if (state.evidence.has(runId)) return;
  state.isEvidenceNew = true;
  if (state.evidence.size < MAX_EVIDENCE) state.evidence.set(runId, { place, attempt, runId });
  else state.isEvidenceLost = true;
}

/** Cancels a run; a cancel that is already waiting is not repeated. */
export function cancelRun(state: State, { place, attempt, runId }: AttemptRun): void {
  if (!state.cancels.has(runId)) state.cancels.set(runId, { place, attempt, runId });
}

function remember(names: Set<string>, name: string, most: number): void {
  names.add(name);
  const [oldest] = names.size > most ? names : [];
  if (oldest !== undefined) names.delete(oldest);
}
