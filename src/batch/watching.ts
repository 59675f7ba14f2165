// The durable poll: which runs to look at, and when to look again.

import { LOOK_MAX_MS, LOOK_SPREAD_MS, SAFETY_LOOK_MS } from './limits.ts';
import type { Seen } from './messages.ts';
import { runningEntries, type State } from './state.ts';

export type Watch = {
  readonly runs: readonly (Seen & { readonly since: number; readonly overdueAt?: number })[];
  /** Whether the batch waits for the service to be readable again. */
  readonly isUnread: boolean;
  readonly lookAgainMs: number;
};

/** What a look is told when it asks. */
export function watch(state: State): Watch {
  const runs = runningEntries(state).map(({ row, attempt, runId, since, overdue }) => ({
    row,
    attempt,
    runId,
    since,
    ...(overdue === undefined ? {} : { overdueAt: overdue.at }),
  }));
  return { runs, isUnread: state.paused?.kind === 'unread', lookAgainMs: lookAgainMs(state) };
}

/** How long until the next look. While webhooks bring the ends, looks only find what was lost. */
export function lookAgainMs(state: Pick<State, 'order' | 'endsBy' | 'phases'>): number {
  const { webhooks, lists, timing } = state.order;
  if (webhooks && state.endsBy === 'webhook') return SAFETY_LOOK_MS;
  const spread = lists ? 0 : state.phases.running * LOOK_SPREAD_MS;
  return Math.min(LOOK_MAX_MS, Math.max(timing.pollIntervalMs, spread));
}

/** The first look of a workflow run falls where the looks of the run before it would have fallen. */
export function firstLookMs(startedAt: number, now: number, everyMs: number): number {
  return everyMs - (Math.max(0, now - startedAt) % everyMs);
}
