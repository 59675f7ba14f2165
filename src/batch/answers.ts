// What a group's answer changes: each attempt's class (R5) moves its row on, and what could not be sent holds the batch
// back for a while. Only entries that still wait for this answer are changed (R15).

import type { Sending } from './entry.ts';
import { enterAdopted, enterPost } from './ledger.ts';
import { HOLD_BASE_MS, HOLD_MAX_MS, LEASE_MS, REASON_CHARS, RETRY_AFTER_MAX_MS } from './limits.ts';
import type { Answer, Command, Event, Seen, Unaccepted } from './messages.ts';
import { endRow, run } from './ends.ts';
import { adapt } from './pacing.ts';
import { pause, pauseWhenUnreachable, unpause } from './pausing.ts';
import { put, type State } from './state.ts';
import { isTwin, nameOf, reportOthers, reportTwin } from './twins.ts';

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
  const isTaking = event.answers.some(({ became }) => became === 'accepted');
  for (const attempt of group.attempts) {
    // A run may have ended before the answer of its group, and its row may be in another group by now.
    const entry = state.entries.get(attempt.row);
    const told = answers.get(nameOf(attempt));
    if (told?.became === 'accepted') commands.push(...twinsOf(state, told));
    state.early.delete(nameOf(attempt));
    if (entry?.phase !== 'sending' || entry.attempt !== attempt.attempt) continue;
    const answer = told ?? unanswered(entry, event);
    if (answer.became === 'not-sent' || answer.became === 'not-processed') bounced.push(answer);
    state.ledger = enterPost(state.ledger, answer.became);
    commands.push(...answerAttempt(state, entry, answer, { askedAt: group.at, isTaking }));
    if (answer.became === 'accepted') settle(state, answer.runId, group.at);
  }
  adapt(
    state,
    bounced.some(({ became }) => became === 'not-processed'),
  );
  if (bounced.length > 0 && !isTaking) hold(state, bounced);
  return commands;
}

/** The answer names another run than those that were seen, or the one that ended: the service made two of one order. */
function twinsOf(state: State, told: Seen): readonly Command[] {
  const entry = state.entries.get(told.row);
  // What the service answered with is the attempt's run, as long as no other has ended for it.
  if (entry?.phase === 'sending' && entry.attempt === told.attempt)
    return reportOthers(state, entry, told.runId);
  return isTwin(state, told) ? reportTwin(state, told, false) : [];
}

function unanswered(entry: Sending, event: Extract<Event, { type: 'groupAnswered' }>): Unaccepted {
  return {
    row: entry.row,
    attempt: entry.attempt,
    became: event.rest,
    ...(event.reason === undefined ? {} : { reason: event.reason }),
  };
}

/** `isTaking`: the service took others of the group, so that what bounced waits by itself and holds nobody back. */
type GroupFacts = { readonly askedAt: number; readonly isTaking: boolean };

function answerAttempt(
  state: State,
  entry: Sending,
  answer: Answer,
  { askedAt, isTaking }: GroupFacts,
): readonly Command[] {
  if (answer.became === 'accepted') return run(state, entry, answer.runId);
  const reason = (answer.reason ?? '').slice(0, REASON_CHARS);
  switch (answer.became) {
    case 'refused':
      unpause(state, 'refused', 'unreachable');
      endRow(state, entry, { outcome: 'refused', reason });
      return [];
    case 'pause':
      pause(state, 'refused', reason);
      return sendAgain(state, entry, 0);
    case 'not-sent':
    case 'not-processed':
      return sendAgain(state, entry, isTaking ? (answer.retryAfterMs ?? HOLD_BASE_MS) : 0);
    case 'uncertain':
      return doubt(state, entry, askedAt, reason);
  }
}

/** The service takes runs again; the newest one serves as control for later lists. */
function settle(state: State, runId: string, at: number): void {
  state.bounces = 0;
  state.trouble = undefined;
  unpause(state, 'refused', 'unreachable');
  state.control = { runId, at };
}

/** Nothing became of it: the same attempt goes again, and counts for nothing. */
function sendAgain(state: State, { row, attempt, tries, past }: Sending, waitMs: number): readonly Command[] {
  const dueAt = state.now + clipped(waitMs);
  if (state.cancelling === undefined) put(state, { phase: 'waiting', row, attempt, tries, past, dueAt });
  else
    endRow(
      state,
      { row, attempt, tries, past },
      { outcome: 'cancelled', reason: 'cancelled before it was sent' },
    );
  return [];
}

/** It may be a run. A webhook may have named that run already; else the run lists will tell. */
function doubt(state: State, entry: Sending, askedAt: number, reason: string): readonly Command[] {
  const { row, attempt, tries, past } = entry;
  const [first] = entry.seen ?? [];
  if (first !== undefined) {
    state.ledger = enterAdopted(state.ledger, 'webhook');
    return [...reportOthers(state, entry, first), ...run(state, { row, attempt, tries, past }, first)];
  }
  // The answer came, or the group was given up, at the latest now; its lease may outlive that.
  const sentBy = state.now + LEASE_MS;
  put(state, { phase: 'uncertain', row, attempt, tries, past, askedAt, sentBy, reason });
  state.doubt.nextAt = state.now;
  state.doubt.looks = 0;
  return [];
}

const clipped = (waitMs: number): number => Math.min(RETRY_AFTER_MAX_MS, waitMs);

/** One group's bounces count once; whoever names a time is believed, within reason. */
function hold(state: State, bounced: readonly Unaccepted[]): void {
  const named = bounced.map((answer) => answer.retryAfterMs).filter((ms) => ms !== undefined);
  const backoff = Math.min(HOLD_MAX_MS, HOLD_BASE_MS * 2 ** Math.min(state.bounces, 16));
  if (named.length < bounced.length || named.some((ms) => ms > 0)) state.bounces += 1;
  const waitMs = named.length === bounced.length ? Math.max(...named) : Math.max(backoff, ...named);
  state.holdUntil = Math.max(state.holdUntil, state.now + clipped(waitMs));
  state.trouble = bounced.find((answer) => answer.reason)?.reason?.slice(0, REASON_CHARS);
  pauseWhenUnreachable(state, state.trouble ?? 'no reason was given');
}
