// Starts polls, which find every run whose webhook is lost. A poll is an activity that owns up to 500 runs and reads
// them repeatedly without adding to the history, until few of them are left. While webhooks arrive, runs that end as
// fast as usual are never polled.

import type { PolledRun } from '../commands.ts';
import {
  MIN_POLL_AFTER_MS,
  MAX_POLL_AFTER_MS,
  MAX_POLL_INTERVAL_MS,
  POLL_INTERVAL_SHARE,
  POLL_RUNS,
  POLL_SPREAD_MS,
  POLLS_IN_FLIGHT,
} from '../bounds.ts';
import { oldestUnpolled, type State } from '../state/state.ts';
import { NEVER, type Decision } from './decision.ts';

export const poll: Decision = {
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
      runs.map(({ place, attempt, runId }) => ({ place, attempt, runId })),
    );
    const isUnreadable = state.pauses.has('unreadable');
    return [{ type: 'poll', poll: number, runs, intervalMs: pollIntervalMs(state), isUnreadable }];
  },
};

/** The age from which a run is polled; while webhooks arrive, most runs end before that age. */
export function pollAfterMs({ params, completedBy, usualRunMs }: State): number {
  if (!hasWebhooks({ params, completedBy })) return params.timing.pollIntervalMs;
  return Math.min(MAX_POLL_AFTER_MS, Math.max(MIN_POLL_AFTER_MS, 2 * usualRunMs));
}

const hasWebhooks = ({ params, completedBy }: Pick<State, 'params' | 'completedBy'>): boolean =>
  params.webhooks && completedBy === 'webhook';

export function pollIntervalMs({ params, completedBy, phases, usualRunMs }: State): number {
  const withWebhooks = Math.max(MIN_POLL_AFTER_MS, usualRunMs * POLL_INTERVAL_SHARE);
  const least = hasWebhooks({ params, completedBy }) ? withWebhooks : params.timing.pollIntervalMs;
  const spread = phases.running * POLL_SPREAD_MS[params.lists ? 'listed' : 'single'];
  return Math.min(MAX_POLL_INTERVAL_MS, Math.max(least, spread));
}

/** Takes the oldest runs; young runs may end before the poll reads them. */
function takeRuns(state: State): readonly PolledRun[] {
  const runs: PolledRun[] = [];
  const youngest = state.now - pollAfterMs(state) / 2;
  for (let next = oldestUnpolled(state); next && next.since <= youngest; next = oldestUnpolled(state)) {
    if (runs.length === POLL_RUNS) break;
    const { place, attempt, runId, since, overdue } = next;
    state.unpolled.delete(place);
    const isOverdue = overdue === undefined ? {} : ({ isOverdue: true } as const);
    runs.push({ place, attempt, runId, ageMs: state.now - since, ...isOverdue });
  }
  return runs;
}
