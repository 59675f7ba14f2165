// Starts polls, which find every run whose webhook is lost. A poll is an activity that owns up to 500 runs and reads
// them repeatedly without adding to the history, until few of them are left. While webhooks arrive, runs that end as
// fast as usual are never polled.

import type { PolledRun } from '../events.ts';
import {
  POLL_AFTER_LEAST_MS,
  POLL_AFTER_MOST_MS,
  POLL_INTERVAL_MOST_MS,
  POLL_INTERVAL_SHARE,
  POLL_RUNS,
  POLL_SPREAD_MS,
  POLLS_IN_FLIGHT,
  CANCELS_IN_FLIGHT,
} from '../bounds.ts';
import { oldestUnpolled, type State, unconfirmedRows, oldestOverdue } from '../state/state.ts';
import { NEVER, type Decision, dueIf } from './decision.ts';
import { knownRuns } from '../accounting/request-ledger.ts';
import { readBack } from '../clock.ts';
import { provesFrom, completeAttempt } from '../on-event/run-events.ts';

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
      runs.map(({ place, attempt, runId }) => ({ place, attempt, runId })),
    );
    const isUnreadable = state.pauses.has('unreadable');
    return [{ type: 'poll', poll: number, runs, intervalMs: pollIntervalMs(state), isUnreadable }];
  },
};

/** The age from which a run is polled; while webhooks arrive, most runs end before that age. */
export function pollAfterMs({ params, completedBy, usualRunMs }: State): number {
  if (!hasWebhooks({ params, completedBy })) return params.timing.pollIntervalMs;
  return Math.min(POLL_AFTER_MOST_MS, Math.max(POLL_AFTER_LEAST_MS, 2 * usualRunMs));
}

const hasWebhooks = ({ params, completedBy }: Pick<State, 'params' | 'completedBy'>): boolean =>
  params.webhooks && completedBy === 'webhook';

export function pollIntervalMs({ params, completedBy, phases, usualRunMs }: State): number {
  const withWebhooks = Math.max(POLL_AFTER_LEAST_MS, usualRunMs * POLL_INTERVAL_SHARE);
  const least = hasWebhooks({ params, completedBy }) ? withWebhooks : params.timing.pollIntervalMs;
  const spread = phases.running * POLL_SPREAD_MS[params.lists ? 'listed' : 'single'];
  return Math.min(POLL_INTERVAL_MOST_MS, Math.max(least, spread));
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

// Requests the run lists while attempts are unconfirmed, one reading at a time for all of them. on-event/run-events.ts
// defines what a reading proves.
/**
 * So much further back reads a list that may prove absence: the service's clock may have been back by that much while it
 * made the run, and no answer may have shown it.
 */
const PROOF_BACK_MS = 3_600_000;

export const reconcile: Decision = {
  name: 'reconcile',
  dueAt: ({ phases, reconcile: { requestedAt, nextAt } }) =>
    phases.unconfirmed === 0 || requestedAt !== undefined ? NEVER : nextAt,
  act: (state) => {
    const rows = unconfirmedRows(state);
    state.reconcile.requestedAt = state.now;
    state.reconcile.controlAt = state.control?.at;
    const control = state.control === undefined ? {} : { control: state.control.runId };
    const attempts = rows.map(({ place, attempt }) => ({ place, attempt }));
    const { agoMs, ...clocks } = readBack(state, {
      at: Math.min(...rows.map(({ askedAt }) => askedAt)),
      wallAt: Math.min(...rows.map(({ askedWallAt }) => askedWallAt)),
    });
    const mayProve = rows.some((row) => state.now >= provesFrom(state, row, true));
    const back = { agoMs: agoMs + (mayProve ? PROOF_BACK_MS : 0), ...clocks };
    // The list may not contain the latest runs yet.
    const least = Math.max(0, knownRuns(state.ledger) - state.peakConcurrency);
    return [{ type: 'reconcile', attempts, back, least, ...control }];
  },
};

// Cancels runs: duplicates, runs that take too long, and all runs if the user requests that. A few activities cancel many
// runs each, because thousands of pending activities would block the workflow permanently.
export const CANCEL_RUNS = 100;

/** How long the service may take to end an overdue run that we asked it to cancel. */
export const CANCEL_PATIENCE_MS = 60_000;

export const cancelRuns: Decision = {
  name: 'cancel-runs',
  dueAt: (state) => dueIf(state.cancelsInFlight.size < CANCELS_IN_FLIGHT && waiting(state) > 0),
  act: (state) => {
    const inFlight = new Set([...state.cancelsInFlight.values()].flat().map(({ runId }) => runId));
    const runs = [...state.cancels.values()]
      .filter(({ runId }) => !inFlight.has(runId))
      .slice(0, CANCEL_RUNS);
    const id = state.nextCancel;
    state.nextCancel += 1;
    state.cancelsInFlight.set(id, runs);
    return [{ type: 'cancelRuns', id, runs }];
  },
};

function waiting({ cancels, cancelsInFlight }: State): number {
  let count = cancels.size;
  for (const runs of cancelsInFlight.values()) count -= runs.length;
  return count;
}

/**
 * R8: stops waiting for an overdue run that does not end after the service was asked to cancel it. The run may still be
 * running, so its row ends as unknown.
 */
export const abandonRuns: Decision = {
  name: 'abandon-runs',
  dueAt: (state) => {
    const row = oldestOverdue(state);
    const isOpen = row === undefined || state.cancels.has(row.runId) || state.pauses.has('unreadable');
    return isOpen ? NEVER : row.overdue.at + CANCEL_PATIENCE_MS;
  },
  // Thousands may be due at the same time, once runs can be read again.
  act: (state) => {
    for (
      let row = oldestOverdue(state);
      row && abandonRuns.dueAt(state) <= state.now;
      row = oldestOverdue(state)
    ) {
      const reason = `${row.overdue.reason}, and could not be cancelled: it may still run`;
      completeAttempt(state, row, { runId: row.runId, outcome: 'unknown', reason });
    }
    return [];
  },
};
