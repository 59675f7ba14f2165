// Executes the commands of a batch: activities, timers and signals. The result of each is an event again.

import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { Command } from '../src/batch/commands.ts';
import { EVIDENCE, LOG, PASS, RESULTS, type Event } from '../src/batch/events.ts';
import { activitySummary } from '../src/batch/shown/activity-summary.ts';
import { progress } from '../src/batch/shown/progress.ts';
import { closedSnapshot } from '../src/batch/state/snapshot.ts';
import type { State } from '../src/batch/state/state.ts';
import type { BatchRuntime } from './batch-runtime.ts';
import { notified } from './notification.ts';
import { sendGroup, type GroupScopes } from './send-group.ts';
import { report, type Told } from './tell-pool.ts';
import type { Wake } from './timers.ts';

export type Context = {
  readonly runtime: BatchRuntime;
  readonly state: State;
  readonly wake: Wake;
  readonly groups: GroupScopes;
  readonly told: Told;
};

/** Executes a command; the event carries its result. */
export async function execute(
  { runtime, state, wake, groups, told }: Context,
  command: Command,
): Promise<Event | undefined> {
  const { activities } = runtime;
  const summary = activitySummary(state, command);
  switch (command.type) {
    case 'send':
      return sendGroup(runtime, groups, command, summary);
    case 'stopGroups':
      for (const group of command.groups) groups.get(group)?.cancel();
      return undefined;
    case 'reconcile':
      return { type: 'listRead', reading: await activities.reconcileRuns(inputOf(command), summary) };
    case 'poll':
      await activities.pollRuns(inputOf(command), summary);
      return { type: 'pollEnded', poll: command.poll };
    case 'collect':
      return stored(command.part, async () => ({
        type: 'partCollected',
        part: command.part,
        result: await activities.collectRows({ ...inputOf(command), pass: state.params.pass }, summary),
      }));
    case 'cancelRuns':
      return cancelled(activities, command, summary);
    case 'keepEvidence':
      return stored(EVIDENCE, async () => {
        await activities.keepEvidence(inputOf(command));
        return { type: 'evidenceKept', count: command.runs.length };
      });
    case 'keepLog':
      return stored(LOG, async () => {
        await activities.keepLog(inputOf(command));
        return { type: 'logKept', count: command.entries.length };
      });
    case 'notify':
      return notified(command.notice, async (notice) =>
        activities.notify({ notice, progress: progress(state) }, summary),
      );
    case 'loadPass':
      // The microtasks of `stored` would change the order in which earlier versions act.
      if (state.version >= 4) return passLoaded(activities, command, summary);
      return { ...command, type: 'passLoaded', ...(await activities.loadPass(inputOf(command), summary)) };
    case 'close':
      return stored(RESULTS, async () => {
        await activities.finalizeBatch(
          {
            ...inputOf(command),
            progress: progress(state),
            startedAt: state.startedWallAt,
            endedAt: runtime.now(),
            isEvidenceLost: state.isEvidenceLost,
            closed: closedSnapshot(state),
          },
          summary,
        );
        return { type: 'closed' };
      });
    case 'reportUsage':
      return report(runtime, told, command);
    case 'publish':
      runtime.publish(state);
      return undefined;
    case 'wake':
      return wake(command.afterMs);
  }
}

/** A command without its type: the input of its activity. */
function inputOf<C extends Command>(command: C): Omit<C, 'type'> {
  const { type: _, ...input } = command;
  return input;
}

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

const passLoaded = (
  activities: BatchRuntime['activities'],
  { pass }: CommandOf<'loadPass'>,
  summary: string | undefined,
): Promise<Event> =>
  stored(PASS, async () => ({
    type: 'passLoaded',
    pass,
    ...(await activities.loadPass({ pass, mayPause: true }, summary)),
  }));

/** A run that the service refuses to cancel continues, and ends like any other. */
async function cancelled(
  activities: BatchRuntime['activities'],
  { id, runs }: CommandOf<'cancelRuns'>,
  summary: string | undefined,
): Promise<Event> {
  try {
    await activities.cancelRuns({ runs }, summary);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
  return { type: 'runsCancelled', id };
}

/** A store that cannot be written does not fail the batch: the batch waits. Rethrows every other error. */
async function stored(item: number, work: () => Promise<Event>): Promise<Event> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === 'StoreFailed')
      return { type: 'storeFailed', item, reason: cause.message };
    throw error;
  }
}
