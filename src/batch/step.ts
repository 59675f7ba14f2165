// The batch's decisions: events come in, the state changes, commands go out. Nothing here reads a clock, draws a
// number or waits; the workflow and the simulator are two shells around the same function.

import { answerGroup } from './answers.ts';
import { cancelBatch, cancelOverdue, cancelRunning } from './cancelling.ts';
import { collectEnded } from './collecting.ts';
import { decideDoubt, judgeLook, lookForUncertain } from './doubt.ts';
import { endRuns, seeRuns } from './ends.ts';
import { CLOSING, ENTRIES_MAX, HEARD_MOST } from './limits.ts';
import type { Command, Event } from './messages.ts';
import { NO_PACE } from './pacing.ts';
import { heedReading, liftIdlePause, pause, pauseForDoubt, probed, unpause } from './pausing.ts';
import { sendDue } from './sending.ts';
import { usedSlots } from './slots.ts';
import { isIdle, type State } from './state.ts';
import { addTallies, tallyOutcome } from './tally.ts';
import { tellView } from './telling.ts';
import { nextWake } from './waking.ts';
import { endLook, lookAtRuns } from './watching.ts';

export type Step = { readonly state: State; readonly commands: readonly Command[] };

/**
 * What follows from the events of one moment, `now` (ms since 1970). Changes `state` in place and hands it back. Events
 * that come together are answered together: slots that are freed by two signals are filled by one group.
 */
export function step(state: State, events: readonly Event[], now: number): Step {
  state.now = Math.max(state.now, now);
  const asked = events.flatMap((event) => apply(state, event));
  const decided = [...asked, ...decide(state)];
  const told = tellView(state, [...events, ...decided]);
  assertBounds(state);
  return { state, commands: [...decided, ...told, ...nextWake(state)] };
}

/** R16: a state beyond its bounds would wedge its workflow for good; failing the task keeps the last good one. */
function assertBounds(state: State): void {
  const used = usedSlots(state);
  if (state.entries.size > ENTRIES_MAX || used > state.order.cap) {
    throw new Error(
      `batch state out of bounds: ${state.entries.size} entries, ${used} of ${state.order.cap} slots`,
    );
  }
}

function apply(state: State, event: Event): readonly Command[] {
  switch (event.type) {
    case 'started':
      return takeUp(state);
    case 'groupAnswered':
      return answerGroup(state, event);
    case 'runsEnded':
      return endRuns(state, event.ends, event.by);
    case 'runsSeen':
      return seeRuns(state, event.seen, 'webhook');
    case 'overdue':
      return cancelOverdue(state, event.runs);
    case 'read':
      return heedReading(state, event.reason);
    case 'looked':
      return endLook(state);
    case 'listed':
      return judgeLook(state, event.look);
    case 'collected':
      return foldPart(state, event);
    case 'unwritten':
      return keepPart(state, event);
    case 'cancel':
      hear(state, event.order);
      return cancelBatch(state, event.running);
    case 'resume':
      hear(state, event.order);
      return resume(state, event.uncertain);
    case 'drain':
      state.draining = true;
      return [];
    case 'closed':
      state.finished = true;
      return [];
    case 'woke':
      return [];
  }
}

/** What the state asks for whenever anything changed, in this order: free money first, then proof, then files. */
function decide(state: State): readonly Command[] {
  if (state.finished) return [];
  liftIdlePause(state);
  pauseForDoubt(state);
  return [
    ...writeAgain(state),
    ...sendDue(state),
    ...lookForUncertain(state),
    ...collectEnded(state),
    ...lookAtRuns(state),
    ...closeWhenDone(state),
  ];
}

/** Whoever gave an order waits until it stands here. */
function hear(state: State, order: string | undefined): void {
  if (order !== undefined) state.heard = [...state.heard, order].slice(-HEARD_MOST);
}

/** What the workflow run before this one had asked for and not yet heard of: asking twice does no harm. */
function takeUp(state: State): readonly Command[] {
  const collects = [...state.parts].map(([part, rows]) => ({ type: 'collect' as const, part, rows }));
  return state.cancelling === 'running' ? [...collects, ...cancelRunning(state)] : collects;
}

/** R14: a row counts when its files are there, which is when its part is written. */
function foldPart(state: State, event: Extract<Event, { type: 'collected' }>): readonly Command[] {
  if (!state.parts.delete(event.part)) return [];
  state.tally = addTallies(state.tally, event.tally);
  state.unwritten.delete(event.part);
  unpause(state, 'store');
  return [];
}

/** A folder that takes nothing more stops the batch: what is bought must be kept somewhere. */
function keepPart(state: State, { part, reason }: Extract<Event, { type: 'unwritten' }>): readonly Command[] {
  if (part !== CLOSING && !state.parts.has(part)) return [];
  state.unwritten.add(part);
  pause(state, 'store', `the batch folder cannot be written: ${reason}`);
  return [];
}

/** One part to see whether the folder takes it; all, once it took one. */
function writeAgain(state: State): readonly Command[] {
  const { paused, unwritten, parts } = state;
  const isProbe = paused?.kind === 'store';
  if (unwritten.size === 0 || (isProbe && state.now < paused.probeAt)) return [];
  const again = [...unwritten].slice(0, isProbe ? 1 : unwritten.size);
  if (isProbe) probed(state);
  return again.map((part) => {
    unwritten.delete(part);
    const rows = parts.get(part);
    return rows === undefined ? { type: 'close' } : { type: 'collect', part, rows };
  });
}

function resume(
  state: State,
  uncertain: Extract<Event, { type: 'resume' }>['uncertain'],
): readonly Command[] {
  if (uncertain !== undefined) decideDoubt(state, uncertain);
  state.paused = undefined;
  state.trouble = undefined;
  state.holdUntil = state.now;
  state.bounces = 0;
  state.pace = NO_PACE;
  return [];
}

function closeWhenDone(state: State): readonly Command[] {
  if (state.closing || !isIdle(state) || state.entries.size + state.parts.size + state.groups.size > 0)
    return [];
  state.closing = true;
  const neverSent = state.order.rows - state.cursor + 1;
  if (neverSent > 0) state.tally = tallyOutcome(state.tally, 'cancelled', neverSent);
  return [{ type: 'close' }];
}
