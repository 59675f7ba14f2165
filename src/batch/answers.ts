// What a group's answer changes: each attempt's class (R5) moves its row on, and what could not be sent holds the batch
// back for a while. Only entries that still wait for this answer are changed (R15).

import type { Sending } from './entry.ts';
import { enterAdopted, enterPost } from './ledger.ts';
import { HOLD_BASE_MS, HOLD_MAX_MS, LEASE_MS, REASON_CHARS, RETRY_AFTER_MAX_MS } from './limits.ts';
import type { Answer, AttemptName, Command, Event, Unaccepted } from './messages.ts';
import { endRow, run } from './ends.ts';
import { put, type State } from './state.ts';

export function answerGroup(
  state: State,
  event: Extract<Event, { type: 'groupAnswered' }>,
): readonly Command[] {
  const group = state.groups.get(event.group);
  if (group === undefined) return [];
  state.groups.delete(event.group);
  const answers = new Map(event.answers.map((answer) => [nameOf(answer), answer]));
  const commands: Command[] = [];
  const bounced: Unaccepted[] = [];
  for (const attempt of group.attempts) {
    // A run may have ended before the answer of its group, and its row may be in another group by now.
    const entry = state.entries.get(attempt.row);
    if (entry?.phase !== 'sending' || entry.attempt !== attempt.attempt) continue;
    const answer = answers.get(nameOf(attempt)) ?? unanswered(entry, event);
    if (answer.became === 'not-sent' || answer.became === 'not-processed') bounced.push(answer);
    state.ledger = enterPost(state.ledger, answer.became);
    commands.push(...answerAttempt(state, entry, answer, group.at));
    if (answer.became === 'accepted') settle(state, answer.runId, group.at);
  }
  if (bounced.length > 0) hold(state, bounced);
  return commands;
}

const nameOf = ({ row, attempt }: AttemptName): string => `${row}/${attempt}`;

function unanswered(entry: Sending, event: Extract<Event, { type: 'groupAnswered' }>): Unaccepted {
  return {
    row: entry.row,
    attempt: entry.attempt,
    became: event.rest,
    ...(event.reason === undefined ? {} : { reason: event.reason }),
  };
}

function answerAttempt(state: State, entry: Sending, answer: Answer, askedAt: number): readonly Command[] {
  if (answer.became === 'accepted') return run(state, entry, answer.runId);
  const reason = (answer.reason ?? '').slice(0, REASON_CHARS);
  switch (answer.became) {
    case 'refused':
      endRow(state, entry, { outcome: 'refused', reason });
      return [];
    case 'pause':
      state.paused ??= reason;
      return sendAgain(state, entry);
    case 'not-sent':
    case 'not-processed':
      return sendAgain(state, entry);
    case 'uncertain':
      return doubt(state, entry, askedAt, reason);
  }
}

/** The service takes runs again; the newest one serves as control for later lists. */
function settle(state: State, runId: string, at: number): void {
  state.bounces = 0;
  state.trouble = undefined;
  state.control = { runId, at };
}

/** Nothing became of it: the same attempt goes again, and counts for nothing. */
function sendAgain(state: State, { row, attempt, tries, past }: Sending): readonly Command[] {
  if (state.cancelling === undefined)
    put(state, { phase: 'waiting', row, attempt, tries, past, dueAt: state.now });
  else
    endRow(
      state,
      { row, attempt, tries, past },
      { outcome: 'cancelled', reason: 'cancelled before it was sent' },
    );
  return [];
}

/** It may be a run. A webhook may have named that run already; else the run lists will tell. */
function doubt(
  state: State,
  { row, attempt, tries, past, seen }: Sending,
  askedAt: number,
  reason: string,
): readonly Command[] {
  if (seen !== undefined) {
    state.ledger = enterAdopted(state.ledger, 'webhook');
    return run(state, { row, attempt, tries, past }, seen);
  }
  // The answer came, or the group was given up, at the latest now; its lease may outlive that.
  const sentBy = state.now + LEASE_MS;
  put(state, { phase: 'uncertain', row, attempt, tries, past, askedAt, sentBy, reason });
  state.doubt.nextAt = state.now;
  state.doubt.looks = 0;
  return [];
}

/** One group's bounces count once; whoever names a time is believed, within reason. */
function hold(state: State, bounced: readonly Unaccepted[]): void {
  const named = bounced.map((answer) => answer.retryAfterMs).filter((ms) => ms !== undefined);
  const backoff = Math.min(HOLD_MAX_MS, HOLD_BASE_MS * 2 ** Math.min(state.bounces, 16));
  if (named.length < bounced.length || named.some((ms) => ms > 0)) state.bounces += 1;
  const waitMs = named.length === bounced.length ? Math.max(...named) : Math.max(backoff, ...named);
  state.holdUntil = Math.max(state.holdUntil, state.now + Math.min(RETRY_AFTER_MAX_MS, waitMs));
  state.trouble = bounced.find((answer) => answer.reason)?.reason?.slice(0, REASON_CHARS);
}
