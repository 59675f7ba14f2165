// Applies events to the state of a batch and returns the commands that follow. The function is pure except for the state:
// it reads no clock, uses no random numbers and never waits, so the workflow and the simulator run the same code.

import { CLOCK_IDLE_MS } from './bounds.ts';
import { advanceClock, latestWakeAt } from './clock.ts';
import { collect } from './decisions/collect.ts';
import { actsAt, type Decision } from './decisions/decision.ts';
import {
  close,
  keepEvidenceWhenMuch,
  keepLogWhenOld,
  loadPass,
  storeAgain,
} from './decisions/store-writes.ts';
import { judgeCanary } from './decisions/judge-canary.ts';
import { judgeTrial } from './decisions/judge-trial.ts';
import { liftPointlessPauses } from './decisions/lift-pauses.ts';
import { pauseForBudget } from './decisions/pause-for-budget.ts';
import { pauseForDeadline } from './decisions/pause-for-deadline.ts';
import { pauseForFailures } from './decisions/pause-for-failures.ts';
import { pauseForPool, resumeFromPool } from './decisions/pause-for-pool.ts';
import { pauseForUnclear } from './decisions/pause-for-unclear.ts';
import { pauseForUnconfirmed, resumeFromUnconfirmed } from './decisions/pause-for-unconfirmed.ts';
import { notify } from './decisions/notify.ts';
import { poll } from './decisions/poll.ts';
import { reconcile } from './decisions/reconcile.ts';
import { cancelRuns } from './decisions/cancel.ts';
import { abandonRuns } from './decisions/abandon-runs.ts';
import {
  noteChange,
  publish,
  acknowledgeCommands,
  stopGroups,
  leaveAtEnd,
  reportUsage,
} from './decisions/publish.ts';
import { send } from './decisions/send.ts';
import type { Event } from './events.ts';
import type { Command } from './commands.ts';
import { applyEvent } from './on-event/apply.ts';
import { readLateRuns } from './on-event/retry-rows.ts';
import type { State } from './state/state.ts';

/** Everything that a batch does on its own initiative. If several decisions are due, they act in this order. */
export const DECISIONS: readonly Decision[] = [
  liftPointlessPauses,
  resumeFromUnconfirmed,
  pauseForUnconfirmed,
  pauseForUnclear,
  resumeFromPool,
  pauseForPool,
  judgeTrial,
  judgeCanary,
  pauseForFailures,
  pauseForDeadline,
  pauseForBudget,
  abandonRuns,
  storeAgain,
  stopGroups,
  acknowledgeCommands,
  send,
  reportUsage,
  reconcile,
  cancelRuns,
  collect,
  keepEvidenceWhenMuch,
  notify,
  keepLogWhenOld,
  poll,
  loadPass,
  close,
];

/** More decisions than this in one step are a bug. The rest waits one second, because a throw would fail the batch. */
const MAX_DECISIONS = 500;
const OVERRUN_MS = 1_000;

/**
 * Applies the events of one moment and returns the commands; `wallAt` is Temporal's time (ms since 1970). Changes `state`
 * in place. All events are applied before any decision acts, so one group fills the slots that two signals freed.
 */
export function step(state: State, events: readonly Event[], wallAt: number): readonly Command[] {
  advanceClock(state, wallAt);
  for (const event of events) applyEvent(state, event);
  if (state.finished && !readLateRuns(state)) return published(state, events);
  const commands = decide(state);
  noteChange(state, [...events, ...commands]);
  if (actsAt(state, publish) <= state.now) commands.push(...publish.act(state));
  const dueAt = Math.min(nextDueAt(state), latestWakeAt(state));
  state.wakeAt = Math.max(dueAt, state.now + (dueAt <= state.now ? OVERRUN_MS : 1));
  // Long waits are split: the batch's clock believes no longer one.
  const afterMs = Math.min(CLOCK_IDLE_MS, state.wakeAt - state.now);
  if (Number.isFinite(dueAt)) commands.push({ type: 'wake', afterMs: Math.ceil(afterMs) });
  return commands;
}

/** Runs due decisions, starting from the top after each one: a later decision may make an earlier one due. */
function decide(state: State): Command[] {
  const commands: Command[] = [];
  for (let count = 0; count < MAX_DECISIONS; count += 1) {
    const due = DECISIONS.find((decision) => actsAt(state, decision) <= state.now);
    if (due === undefined) break;
    commands.push(...(due.act(state) ?? []));
  }
  return commands;
}

/** The earliest time at which a decision becomes due without another event. */
export const nextDueAt = (state: State): number =>
  Math.min(publish.dueAt(state), ...DECISIONS.map(({ dueAt }) => dueAt(state)));

function published(state: State, events: readonly Event[]): readonly Command[] {
  noteChange(state, events);
  return [...leaveAtEnd(state), ...publish.act(state)];
}
