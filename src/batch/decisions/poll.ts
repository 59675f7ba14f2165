// The durable poll: whatever a webhook fails to report, a poll finds. A poll owns up to 500 runs and looks at them again and
// again without a line of history, until few of them are left. Runs that end as fast as usual are never polled while webhooks
// arrive.

import type { PolledRun } from '../commands.ts';
import {
  POLL_AFTER_LEAST_MS,
  POLL_AFTER_MOST_MS,
  POLL_INTERVAL_MOST_MS,
  POLL_RUNS,
  POLL_SPREAD_MS,
  POLLS_IN_FLIGHT,
} from '../bounds.ts';
import { oldestUnpolled, type State } from '../state.ts';
import { NEVER, type Decision } from './decision.ts';

export const poll: Decision = {
  name: 'poll',
  dueAt: (state) => {
    const oldest = oldestUnpolled(state);
    if (oldest === undefined || state.polls.size >= POLLS_IN_FLIGHT) return NEVER;
    return oldest.since + pollAfterMs(state);
  },
  act: (state) => {
    const number = state.nextPoll;
    state.nextPoll += 1;
    const runs = takeRuns(state);
    state.polls.set(
      number,
      runs.map(({ row, attempt, runId }) => ({ row, attempt, runId })),
    );
    const isUnreadable = state.pauses.has('unreadable');
    return [{ type: 'poll', poll: number, runs, intervalMs: pollIntervalMs(state), isUnreadable }];
  },
};

/** How old a run is when it is polled: older than most become, while webhooks report their ends. */
export function pollAfterMs({ params, completedBy, usualRunMs }: State): number {
  if (!isReported({ params, completedBy })) return params.timing.pollIntervalMs;
  return Math.min(POLL_AFTER_MOST_MS, Math.max(POLL_AFTER_LEAST_MS, 2 * usualRunMs));
}

const isReported = ({ params, completedBy }: Pick<State, 'params' | 'completedBy'>): boolean =>
  params.webhooks && completedBy === 'webhook';

export function pollIntervalMs({ params, completedBy, phases }: State): number {
  const least = isReported({ params, completedBy }) ? POLL_AFTER_LEAST_MS : params.timing.pollIntervalMs;
  const spread = phases.running * POLL_SPREAD_MS[params.lists ? 'listed' : 'single'];
  return Math.min(POLL_INTERVAL_MOST_MS, Math.max(least, spread));
}

/** The oldest runs; young ones may end before anybody looks at them. */
function takeRuns(state: State): readonly PolledRun[] {
  const runs: PolledRun[] = [];
  const youngest = state.now - pollAfterMs(state) / 2;
  for (let next = oldestUnpolled(state); next && next.since <= youngest; next = oldestUnpolled(state)) {
    if (runs.length === POLL_RUNS) break;
    const { row, attempt, runId, since, overdue } = next;
    state.unpolled.delete(row);
    const isOverdue = overdue === undefined ? {} : ({ isOverdue: true } as const);
    runs.push({ row, attempt, runId, ageMs: state.now - since, ...isOverdue });
  }
  return runs;
}
