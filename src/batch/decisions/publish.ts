// Decides when to write progress into the memo: after a change, with whatever else happens, but not too often; immediately if the
// status changes or a command is acknowledged, because users wait for that.

import type { Command } from '../commands.ts';
import type { Event } from '../events.ts';
import { statusOf } from '../shown/progress.ts';
import type { State } from '../state/state.ts';
import { type Decision, NEVER, runTimeShareMs, PUBLISH_SHARES } from './decision.ts';

/** The minimum time between two publications of progress, because each adds to the history. */
export const PUBLISH_MS = 500;

/** Events and commands that do not change the progress. */
const SILENT: ReadonlySet<string> = new Set([
  'woke',
  'stopSending',
  'pollEnded',
  'evidenceKept',
  'poll',
  'keepEvidence',
  'keepLog',
  'logKept',
  'stopGroups',
  'reportUsage',
  'usageReported',
  'notify',
]);

export function noteChange(state: State, happened: readonly (Event | Command)[]): void {
  state.published.isStale ||= happened.some(({ type }) => !SILENT.has(type));
}

export const publish: Decision = {
  name: 'publish',
  dueAt: (state) => publishAt(state, PUBLISH_SHARES.alone),
  alongAt: (state) => publishAt(state, PUBLISH_SHARES.along),
  act: (state) => {
    state.published = { at: state.now, isStale: false, summary: summaryOf(state) };
    return [{ type: 'publish' }];
  },
};

function publishAt(state: State, share: number): number {
  const { at, isStale, summary } = state.published;
  if (!isStale) return NEVER;
  return summary === summaryOf(state) ? at + runTimeShareMs(state, PUBLISH_MS, share) : 0;
}

const summaryOf = (state: State): string => `${statusOf(state)} after ${state.acknowledgements.at(-1)?.id}`;
