// The batch's logic: events come in, the state changes, commands go out. Nothing here reads a clock, draws a number or
// waits; the workflow and the simulator are two shells around the same function.

import { advanceClock } from './clock.ts';
import type { Command } from './commands.ts';
import { cancelRuns } from './decisions/cancel-runs.ts';
import { close } from './decisions/close.ts';
import { collect } from './decisions/collect.ts';
import type { Decision } from './decisions/decision.ts';
import { giveUpRuns } from './decisions/give-up-runs.ts';
import { keepEvidenceWhenMuch } from './decisions/keep-evidence.ts';
import { liftPointlessPauses } from './decisions/lift-pointless-pauses.ts';
import { pauseForUnconfirmed, resumeFromUnconfirmed } from './decisions/pause-for-unconfirmed.ts';
import { poll } from './decisions/poll.ts';
import { noteChange, publish } from './decisions/publish.ts';
import { reconcile } from './decisions/reconcile.ts';
import { send } from './decisions/send.ts';
import { storeAgain } from './decisions/store-again.ts';
import type { Event } from './events.ts';
import { applyEvent } from './on-event/apply.ts';
import type { State } from './state.ts';

/** Everything that a batch does of its own accord, in the order in which it is done when several are due. */
export const DECISIONS: readonly Decision[] = [
  liftPointlessPauses,
  resumeFromUnconfirmed,
  pauseForUnconfirmed,
  giveUpRuns,
  storeAgain,
  send,
  reconcile,
  cancelRuns,
  collect,
  keepEvidenceWhenMuch,
  poll,
  close,
];

/** More decisions than this in one step are a mistake of ours: the rest waits a second, for a throw would end the batch. */
const DECISIONS_MOST = 500;
const OVERRUN_MS = 1_000;

/**
 * What follows from the events of one moment; `wallAt` is Temporal's time (ms since 1970). Changes `state` in place. Events
 * that come together are answered together: slots that are freed by two signals are filled by one group.
 */
export function step(state: State, events: readonly Event[], wallAt: number): readonly Command[] {
  advanceClock(state, wallAt);
  for (const event of events) applyEvent(state, event);
  if (state.finished) return published(state, events);
  const commands = decide(state);
  noteChange(state, [...events, ...commands]);
  if (publish.dueAt(state) <= state.now) commands.push(...publish.act(state));
  const dueAt = nextDueAt(state);
  state.wakeAt = Math.max(dueAt, state.now + (dueAt <= state.now ? OVERRUN_MS : 1));
  if (Number.isFinite(dueAt)) commands.push({ type: 'wake', afterMs: Math.ceil(state.wakeAt - state.now) });
  return commands;
}

/** Does what is due, and looks from the top again after each: a later decision may make an earlier one due. */
function decide(state: State): Command[] {
  const commands: Command[] = [];
  for (let count = 0; count < DECISIONS_MOST; count += 1) {
    const due = DECISIONS.find(({ dueAt }) => dueAt(state) <= state.now);
    if (due === undefined) break;
    commands.push(...due.act(state));
  }
  return commands;
}

/** The earliest moment at which time alone makes something due. */
export const nextDueAt = (state: State): number =>
  Math.min(publish.dueAt(state), ...DECISIONS.map(({ dueAt }) => dueAt(state)));

function published(state: State, events: readonly Event[]): readonly Command[] {
  noteChange(state, events);
  return publish.act(state);
}
