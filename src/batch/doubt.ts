// Attempts that may or may not have become runs (R10, R11). A run that a list shows is adopted at once. Absence is
// believed only after two complete lists, a gap apart, each asked for so late that the run would be in it, and each
// containing the control, a run of ours accepted later; without a control only a longer wait counts.

import { pastWith, type Uncertain } from './entry.ts';
import { endRow, seeRuns } from './ends.ts';
import { enterResolved } from './ledger.ts';
import { DOUBT_LOOK_MAX_MS, PAST_REASON_CHARS } from './limits.ts';
import type { Command, ListLook } from './messages.ts';
import { put, type State } from './state.ts';

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

function uncertainEntries(state: State): readonly Uncertain[] {
  return [...state.entries.values()].filter((entry) => entry.phase === 'uncertain');
}

function judgeMissing(state: State, entry: Uncertain, look: ListLook): void {
  if (look.answer === 'incomplete' || look.askedAt < countsFrom(state, entry, look)) return;
  if (look.answer === 'none') writeOff(state, entry);
  else if (entry.missedAt === undefined) put(state, { ...entry, missedAt: look.askedAt });
  else if (look.askedAt >= entry.missedAt + state.order.timing.listGapMs) proveAbsent(state, entry);
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
  const { row, attempt, tries } = entry;
  state.ledger = enterResolved(state.ledger, 'absent');
  const past = pastWith(entry, 'absent', { reason: entry.reason.slice(0, PAST_REASON_CHARS) });
  if (state.cancelling === undefined)
    put(state, { phase: 'waiting', row, attempt: attempt + 1, tries, past, dueAt: state.now });
  else endRow(state, entry, { outcome: 'cancelled', reason: entry.reason });
}

/** The service has no list to prove anything by: reported, never sent again. */
function writeOff(state: State, entry: Uncertain): void {
  state.ledger = enterResolved(state.ledger, 'unknown');
  endRow(state, entry, { outcome: 'unknown', reason: `may have run unseen: ${entry.reason}` });
}
