// Reads and controls a running batch: its memo holds its progress, and commands are signals with an id that the memo
// acknowledges (workflows/signals.ts).

import { randomUUID } from 'node:crypto';
import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { UserCommand, BatchSignals, Delivered } from '../batch/events.ts';
import type { LimitChange } from '../options/limits.ts';
import type { Progress } from '../batch/shown/progress.ts';
import { workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';
import { problem, errorMessage } from '../errors/error.ts';
import { waitInCall } from '../host/call-signal.ts';
import { userHere } from './user-here.ts';
import { workerTrouble, type WorkerTrouble } from './worker-trouble.ts';
import * as signals from '../../workflows/signals.ts';

const ANSWER_MS = 10_000;
const ACKNOWLEDGED_MS = 20_000;
const READ_AGAIN_MS = 50;
const UNATTENDED_MS = 15_000;

type BatchStatus = {
  /** The last published progress; undefined until the batch has read its parameters. */
  readonly progress: Progress | undefined;
  /** Since when the oldest task of the batch waits for a worker, in milliseconds since 1970 by the server's clock. */
  readonly waitsSinceMs: number | undefined;
  /** The batch has waited for so long that no worker can be running. */
  readonly isUnattended: boolean;
  /** The fault that keeps workers from their work. */
  readonly trouble: WorkerTrouble | undefined;
  /** Whether the workflow of the batch is running; a terminated workflow does not publish its end. */
  readonly isRunning: boolean;
};

/** `reason` goes to the log of the batch. */
export type CommandOptions = { readonly timeoutMs?: number; readonly reason?: string };

/** The progress of the batch when a command was in force, with the batch's answer. */
export type Acknowledged = {
  readonly commandId: string;
  readonly progress: Progress;
  readonly note: string | undefined;
};

/** `reach` returns the current client. */
export function openControl(reach: () => Client) {
  const handleOf = (name: BatchName) => reach().workflow.getHandle(workflowIdOf(name));

  const status = async (name: BatchName): Promise<BatchStatus> => {
    const until = Date.now() + ANSWER_MS;
    const described = await reach().withDeadline(until, () => handleOf(name).describe());
    const memo = described.memo as signals.BatchMemo | undefined;
    const waitsSinceMs = waitsSince(described.raw);
    const trouble = await workerTrouble(reach(), described.raw);
    return {
      trouble,
      progress: memo?.progress,
      waitsSinceMs,
      isUnattended:
        trouble === undefined && waitsSinceMs !== undefined && Date.now() - waitsSinceMs > UNATTENDED_MS,
      isRunning: described.status.name === 'RUNNING',
    };
  };

  /**
   * Sends a command and resolves when it is in force. Throws E512 if no worker takes it, E513 if the batch has ended,
   * E517 if the batch refuses it, E518 if it is not in force in time.
   */
  const command = async (
    name: BatchName,
    send: (origin: UserCommand & { readonly commandId: string }) => Promise<void>,
    { timeoutMs = ACKNOWLEDGED_MS, ...reasons }: CommandOptions = {},
  ): Promise<Acknowledged> => {
    const commandId = randomUUID();
    await send({ commandId, by: userHere(), ...reasons }).catch((error: unknown) => {
      throw error instanceof WorkflowNotFoundError ? problem('E513', name) : error;
    });
    return acknowledged(() => status(name), { name, commandId, timeoutMs });
  };

  return {
    status,

    pause: (name: BatchName, options?: CommandOptions): Promise<Acknowledged> =>
      command(name, (origin) => handleOf(name).signal(signals.pauseBatch, origin), options),

    scale: (name: BatchName, limits: LimitChange, options?: CommandOptions): Promise<Acknowledged> =>
      command(name, (origin) => handleOf(name).signal(signals.scaleBatch, { ...origin, limits }), options),

    cancel: (name: BatchName, running: boolean, options?: CommandOptions): Promise<Acknowledged> =>
      command(name, (origin) => handleOf(name).signal(signals.cancelBatch, { ...origin, running }), options),

    resume: (
      name: BatchName,
      decided: Pick<signals.ResumeCommand, 'unconfirmed' | 'limits'> = {},
      options?: CommandOptions,
    ): Promise<Acknowledged> =>
      command(
        name,
        (origin) => handleOf(name).signal(signals.resumeBatch, { ...origin, ...decided }),
        options,
      ),

    retry: (name: BatchName, pass: number, options?: CommandOptions): Promise<Acknowledged> =>
      command(name, (origin) => handleOf(name).signal(signals.retryRows, { ...origin, pass }), options),

    /** Makes the batch continue as new, in the version in which its worker starts batches. */
    refresh: (name: BatchName): Promise<Acknowledged> =>
      command(name, (origin) => handleOf(name).signal(signals.refreshBatch, origin)),
  };
}

type AwaitedCommand = { readonly name: BatchName; readonly commandId: string; readonly timeoutMs: number };

/** Waits until the command is in force; see `command` for the errors. */
async function acknowledged(
  read: () => Promise<BatchStatus>,
  { name, commandId, timeoutMs }: AwaitedCommand,
): Promise<Acknowledged> {
  const since = Date.now();
  for (; Date.now() < since + timeoutMs; await waitInCall(READ_AGAIN_MS)) {
    // The command was taken, so a server that is briefly away must not hide that.
    const current = await read().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) throw error;
      return undefined;
    });
    const answer = current?.progress?.acknowledgements.find(({ id }) => id === commandId);
    if (answer?.ok === false) throw problem('E517', { batch: name.batch, reason: answer.note ?? '' });
    if (current?.progress && answer) return { commandId, progress: current.progress, note: answer.note };
    if (current?.isRunning === false) throw problem('E513', name);
  }
  const { waitsSinceMs, isUnattended } = await read();
  if (isUnattended) throw problem('E512', { batch: name.batch, sinceMs: waitsSinceMs ?? since });
  throw problem('E518', { batch: name.batch, seconds: timeoutMs / 1_000 });
}

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;

/**
 * Since when the oldest task waits for a worker. A scheduled retry has a time in the future and does not count. While
 * an activity of the batch is alive there are workers, and a part only waits for a slot for its files.
 */
function waitsSince({ pendingWorkflowTask, pendingActivities }: WorkflowExecutionDescription['raw']) {
  const pending = pendingActivities ?? [];
  const isAttended = pending.some(
    ({ lastHeartbeatTime }) => Date.now() - (optionalTsToMs(lastHeartbeatTime) ?? 0) < UNATTENDED_MS,
  );
  const activities = pending
    .filter(
      (activity) =>
        activity.state === PENDING_ACTIVITY_STATE_SCHEDULED && !(isAttended && fetchesFiles(activity)),
    )
    .map(({ scheduledTime }) => optionalTsToMs(scheduledTime));
  const times = [optionalTsToMs(pendingWorkflowTask?.originalScheduledTime), ...activities];
  const past = times.filter((time) => time !== undefined && time <= Date.now()) as number[];
  return past.length === 0 ? undefined : Math.min(...past);
}

type Pending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/** The activities that wait only for files, and for no message. */
const fetchesFiles = ({ activityType }: Pending): boolean => activityType?.name === 'collectRows';

export function batchSignals(client: Client): BatchSignals {
  const handleOf = (name: BatchName) => client.workflow.getHandle(workflowIdOf(name));
  return {
    runsCompleted: (name, by, completions) =>
      signalled(() => handleOf(name).signal(signals.runsCompleted, by, completions)),
    runsSeen: (name, runs) => signalled(() => handleOf(name).signal(signals.runsSeen, runs)),
    runsOverdue: (name, runs) => signalled(() => handleOf(name).signal(signals.runsOverdue, runs)),
    serviceRead: (name, read) => signalled(() => handleOf(name).signal(signals.serviceRead, read)),
  };
}

/** `gone`: the batch has ended, or its workflow run accepts no more signals and a poll finds the remaining ends. */
async function signalled(signal: () => Promise<void>): Promise<Delivered> {
  try {
    await signal();
    return 'taken';
  } catch (error) {
    const isGone =
      error instanceof WorkflowNotFoundError ||
      /limit for signal events/.test(errorMessage((error as Error).cause));
    if (isGone) return 'gone';
    throw error;
  }
}
