// Translates the events of an assigned run into events of the executor.

import { NO_WORK, type ExecutorEvents } from '../executor.ts';
import { keptState } from './assigned-run.ts';
import type { ServerDeps } from './server-deps.ts';

type RunEventDeps = Pick<ServerDeps, 'keep' | 'reached' | 'progress' | 'ended' | 'lost' | 'endUnknown'>;

export const runEvents = (events: ExecutorEvents, now: () => number): RunEventDeps => ({
  keep: ({ run, state }) => events.keep(run, keptState(state)),
  reached: ({ run }, change) =>
    events.reached(run, change, change.status === 'started' ? change.atMs : undefined),
  progress: ({ run, work }) => events.progress(run, { status: 'running', atMs: now(), work }),
  ended: ({ run, state }, change, startedMs) => {
    // The run was too quick to be seen at work.
    if (startedMs !== undefined && state.startedMs === undefined)
      for (const status of ['started', 'running'] as const)
        events.reached(run, { status, atMs: startedMs, work: NO_WORK });
    events.ended(run, change, startedMs);
  },
  lost: ({ run, state }, ranMs) => {
    events.lost(run, ranMs, true, true);
    events.took(run, state.server, keptState(state), now(), true);
  },
  endUnknown: (assigned) => {
    events.keep(assigned.run, keptState(assigned.state));
    events.endUnknown(assigned.run);
  },
});
