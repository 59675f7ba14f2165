// What the end of a run changes: the slot is free, and the row has its outcome or gets another attempt.

import { pastWith, type Entry } from './entry.ts';
import { enterAdopted, enterPost, type AdoptedBy } from './ledger.ts';
import { PAST_REASON_CHARS, REASON_CHARS } from './limits.ts';
import type { Command, End, Seen } from './messages.ts';
import type { Outcome } from './outcome.ts';
import { retryAt } from './retry.ts';
import { put, type State } from './state.ts';
import { isTwin, nameOf, reportOthers, reportTwin } from './twins.ts';

type Attempt = Pick<Entry, 'row' | 'attempt' | 'tries' | 'past'>;

/** Ends of runs, each confirmed by Get Run. An end may come before its group's answer; it is the better news. */
export function endRuns(state: State, ends: readonly End[], by: 'webhook' | 'look'): readonly Command[] {
  const commands: Command[] = [];
  for (const end of ends) {
    const isOther = isTwin(state, end);
    if (isOther) reportTwin(state, end, true);
    const entry = isOther ? undefined : openEntry(state, end);
    if (entry === undefined) continue;
    state.endsBy = by;
    if (entry.phase === 'sending') {
      state.early.set(nameOf(end), end.runId);
      commands.push(...reportOthers(state, entry, end.runId));
      state.ledger = enterPost(state.ledger, 'accepted');
    }
    if (entry.phase === 'uncertain') state.ledger = enterAdopted(state.ledger, 'webhook');
    endAttempt(state, entry, asMeant(entry, end));
  }
  return commands;
}

/** Runs that carry the token of an attempt: an uncertain one is adopted, one under way remembers it. */
export function seeRuns(state: State, seen: readonly Seen[], by: AdoptedBy): readonly Command[] {
  return seen.flatMap((one) => {
    if (isTwin(state, one)) return reportTwin(state, one, false);
    const entry = openEntry(state, one);
    if (entry?.phase === 'uncertain') {
      state.ledger = enterAdopted(state.ledger, by);
      return run(state, entry, one.runId);
    }
    if (entry?.phase === 'sending' && !entry.seen?.includes(one.runId))
      put(state, { ...entry, seen: [...(entry.seen ?? []), one.runId] });
    return [];
  });
}

/** The service has a run for this attempt. */
export function run(state: State, { row, attempt, tries, past }: Attempt, runId: string): readonly Command[] {
  put(state, { phase: 'running', row, attempt, tries, past, runId, since: state.now });
  return state.cancelling === 'running' ? [{ type: 'cancelRuns', runs: [{ row, attempt, runId }] }] : [];
}

/** Gives a row its outcome; what remains is to collect it. */
export function endRow(
  state: State,
  { row, attempt, tries, past }: Attempt,
  end: {
    readonly outcome: Outcome;
    readonly runId?: string | undefined;
    readonly reason?: string | undefined;
  },
): void {
  const { outcome, runId } = end;
  const reason = end.reason?.slice(0, REASON_CHARS);
  put(state, {
    phase: 'ended',
    row,
    attempt,
    tries,
    past,
    at: state.now,
    outcome,
    ...(runId === undefined ? {} : { runId }),
    ...(reason ? { reason } : {}),
  });
  if (outcome !== 'succeeded') state.lastFailure = { row, outcome, ...(reason ? { reason } : {}) };
}

/** R15: only the entry that is named, and only while it is open. */
function openEntry(state: State, { row, attempt }: { row: number; attempt: number }): Entry | undefined {
  const entry = state.entries.get(row);
  if (entry?.attempt !== attempt) return undefined;
  return entry.phase === 'waiting' || entry.phase === 'ended' ? undefined : entry;
}

/** Cancelled by us because it took too long: that is a time-out, and its row may be tried again. */
function asMeant(entry: Entry, end: End): End {
  if (end.outcome !== 'cancelled' || entry.phase !== 'running' || entry.overdue === undefined) return end;
  return { ...end, outcome: 'timed-out', reason: `${entry.overdue.reason}, and was cancelled` };
}

function endAttempt(state: State, entry: Entry, end: End): void {
  const tries = entry.tries + 1;
  const again =
    state.cancelling === undefined
      ? retryAt({ outcome: end.outcome, tries, row: entry.row }, state.order, state.now)
      : undefined;
  if (again === undefined) {
    endRow(state, { ...entry, tries }, end);
    return;
  }
  const { row, attempt } = entry;
  const reason = end.reason?.slice(0, PAST_REASON_CHARS);
  const past = pastWith(entry, end.outcome, { runId: end.runId, reason });
  put(state, { phase: 'waiting', row, attempt: attempt + 1, tries, past, dueAt: again });
}
