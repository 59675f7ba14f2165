// The durable poll: which runs are looked at, and when to look again. Whatever a webhook fails to tell, a look finds.

import { LOOK_MAX_MS, LOOK_SPREAD_MS, SAFETY_LOOK_MS } from './limits.ts';
import type { Command, Watched } from './messages.ts';
import { runningEntries, type State } from './state.ts';

/** Asks for a look at all runs where it is time for one; one is under way at a time. */
export function lookAtRuns(state: State): readonly Command[] {
  if (state.phases.running === 0) {
    state.lookAt = undefined;
    return [];
  }
  state.lookAt ??= state.now + lookAgainMs(state);
  if (state.now < lookDueAt(state)) return [];
  state.looking = true;
  return [{ type: 'look', runs: watchedRuns(state), isUnread: state.paused?.kind === 'unread' }];
}

/** The next look is as far from this one's end as ever. */
export function endLook(state: State): readonly [] {
  state.looking = false;
  state.lookAt = undefined;
  return [];
}

/** When the next look is due; never, while one is under way or nothing runs. */
export const lookDueAt = ({ lookAt, looking }: State): number =>
  looking ? Number.POSITIVE_INFINITY : (lookAt ?? Number.POSITIVE_INFINITY);

const watchedRuns = (state: State): readonly Watched[] =>
  runningEntries(state).map(({ row, attempt, runId, overdue }) => ({
    row,
    attempt,
    runId,
    ...(overdue === undefined ? {} : { overdueAt: overdue.at }),
  }));

/** How long until the next look. While webhooks bring the ends, looks only find what was lost. */
export function lookAgainMs(state: Pick<State, 'order' | 'endsBy' | 'phases'>): number {
  const { webhooks, lists, timing } = state.order;
  // Each look is in the history with all of its runs.
  const spread = state.phases.running * LOOK_SPREAD_MS[lists ? 'listed' : 'alone'];
  const least = webhooks && state.endsBy === 'webhook' ? SAFETY_LOOK_MS : timing.pollIntervalMs;
  return Math.min(LOOK_MAX_MS, Math.max(least, spread));
}
