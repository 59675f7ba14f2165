// Attempts that may or may not have become runs (R10, R11). A run that a list shows is adopted at once. Absence is
// believed only after two complete lists, a gap apart, each asked for so late that the run would be in it, and each
// containing the control, a run of ours accepted later; without a control only a longer wait counts. Where no list can tell,
// the attempt keeps its slot until a webhook names its run, or the user's rule gives it up.

import { pastWith, type Uncertain } from './entry.ts';
import { endRow, seeRuns } from './ends.ts';
import { enterResolved } from './ledger.ts';
import { DOUBT_LOOK_MAX_MS, PAST_REASON_CHARS, UNCERTAIN_MS } from './limits.ts';
import type { Command, ListLook } from './messages.ts';
import { isStuck } from './pausing.ts';
import { put, uncertainEntries, type State } from './state.ts';
import { abandon } from './twins.ts';

/** Asks for the run lists when a look is due and none is under way; one look serves all uncertain attempts. */
export function lookForUncertain(state: State): readonly Command[] {
  if (state.phases.uncertain === 0 || state.doubt.inFlight || state.now < state.doubt.nextAt) return [];
  const uncertain = uncertainEntries(state);
  state.doubt.inFlight = true;
  state.doubt.controlAt = state.control?.at;
  return [
    {
      type: 'list',
      attempts: uncertain.map(({ row, attempt }) => ({ row, attempt })),
      since: Math.min(...uncertain.map(({ askedAt }) => askedAt)),
      ...(state.control === undefined ? {} : { control: state.control.runId }),
    },
  ];
}

/** What a look at the lists changes. */
export function judgeLook(state: State, look: ListLook): readonly Command[] {
  state.doubt.inFlight = false;
  state.doubt.looks += 1;
  const commands = seeRuns(state, look.found, 'list');
  for (const entry of uncertainEntries(state)) judgeMissing(state, entry, look);
  const gap = state.order.timing.listGapMs * 2 ** Math.min(16, Math.max(0, state.doubt.looks - 4));
  // Never faster than the service wishes, never slower than a minute unless it wishes so.
  const slowest = Math.max(state.order.timing.listGapMs, DOUBT_LOOK_MAX_MS);
  state.doubt.nextAt = Math.max(look.askedAt + Math.min(gap, slowest), state.now);
  return commands;
}

function judgeMissing(state: State, entry: Uncertain, look: ListLook): void {
  if (look.answer !== 'complete') {
    judgeUntold(state, entry, look);
    return;
  }
  if (look.askedAt < countsFrom(state, entry, look)) return;
  if (entry.missedAt === undefined) put(state, { ...entry, missedAt: look.askedAt });
  else if (look.askedAt >= entry.missedAt + state.order.timing.listGapMs) proveAbsent(state, entry);
}

/** No list tells, or none could be read: the user's rule decides, once it is time (R12). */
function judgeUntold(state: State, entry: Uncertain, look: ListLook): void {
  const { rule, afterMs } = state.order.uncertain;
  // Lists that fail now may tell later; lists that are not there never will.
  const waitMs = look.answer === 'none' || rule === 'resubmit' ? afterMs : Math.max(afterMs, UNCERTAIN_MS);
  // Who cancels does not wait for a day, nor to be asked.
  if (state.cancelling !== undefined && isStuck(state, entry)) writeOff(state, entry, 'unknown');
  else if (rule !== 'ask' && look.askedAt >= entry.sentBy + waitMs) writeOff(state, entry, rule);
}

/** From when on a list without the run says something about this attempt. */
function countsFrom(state: State, entry: Uncertain, look: ListLook): number {
  const { postDeadlineMs, settleMs, settleWithoutControlMs } = state.order.timing;
  const { controlAt } = state.doubt;
  const isControlled = look.control && controlAt !== undefined && controlAt > entry.sentBy;
  return entry.sentBy + postDeadlineMs + (isControlled ? settleMs : settleWithoutControlMs);
}

/** It never became a run: the row goes again under a new token, and the retry rule does not count it. */
function proveAbsent(state: State, entry: Uncertain): void {
  state.ledger = enterResolved(state.ledger, 'absent');
  abandon(state, entry);
  if (state.cancelling === undefined) sendUnderNewToken(state, entry, 'absent', entry.reason);
  else endRow(state, entry, { outcome: 'cancelled', reason: entry.reason });
}

function sendUnderNewToken(state: State, entry: Uncertain, was: 'absent' | 'unknown', reason: string): void {
  const { row, attempt, tries } = entry;
  const past = pastWith(entry, was, { reason: reason.slice(0, PAST_REASON_CHARS) });
  put(state, { phase: 'waiting', row, attempt: attempt + 1, tries, past, dueAt: state.now });
}

/** No list can tell: the attempt is given up, reported, and remembered in case its run turns up (R12). */
function writeOff(state: State, entry: Uncertain, rule: 'unknown' | 'fail' | 'resubmit'): void {
  abandon(state, entry);
  const reason = `may have run unseen: ${entry.reason}`;
  if (rule === 'resubmit' && state.cancelling === undefined) {
    state.ledger = enterResolved(state.ledger, 'resubmitted');
    sendUnderNewToken(state, entry, 'unknown', reason);
    return;
  }
  state.ledger = enterResolved(state.ledger, rule === 'fail' ? 'failed' : 'unknown');
  endRow(state, entry, { outcome: rule === 'fail' ? 'failed' : 'unknown', reason });
}

/** The user has decided about all attempts that nobody knows of. */
export function decideDoubt(state: State, rule: 'unknown' | 'fail' | 'resubmit'): void {
  for (const entry of uncertainEntries(state)) if (isStuck(state, entry)) writeOff(state, entry, rule);
}
