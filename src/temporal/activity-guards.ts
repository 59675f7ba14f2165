// What must hold before an activity does anything: its caller is genuine, and a group is sent by one try only.

import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Execution } from '../batch/workflow-ids.ts';
import { codedMessage, errorMessage, problem } from '../errors/error.ts';
import type { ScheduleDefinition } from '../schedule/definition.ts';
import type { TicketFolder } from '../schedule/tickets.ts';

type Started = Parameters<ActivityInterceptorsFactory>[0]['info'];

/** Calls `check` before an activity runs; what it throws fails the activity. */
const before =
  (check: (info: Started, input: unknown) => void | Promise<void>): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        await check(info, input.args[0]);
        return next(input);
      },
    },
  });

type BatchPlace = { readonly batch: string; readonly folder: string };

type Origin = { readonly firstRunId: string; readonly wasReset: boolean };

/**
 * `awaitBatch` only reads. `loadBatch` writes started.json and checks it itself. `createBatch` buys nothing and makes one batch for
 * each key; its payload is encrypted for one workflow, so no other user can ask for another batch. `guardFirings` checks
 * `createFiring` and `notifyFiring`. Those of a pipeline do what its folder says, which a command has written.
 */
const BEFORE_START: ReadonlySet<string> = new Set([
  'awaitBatch',
  'awaitStage',
  'createBatch',
  'createFiring',
  'createStage',
  'loadBatch',
  'notifyFiring',
  'showPipeline',
]);

const KEPT_MAX = 1_000;

/**
 * Refuses activities that the batch itself did not schedule. Every user of the machine can connect to an embedded server: he
 * cannot read or create payloads, but he can copy them, and reset or start workflows. So activities run only for the chain of
 * workflow runs that started the batch (started.json), and never for a reset run, which would send groups again.
 * `startedBy` reads from the folder which workflow run started the batch.
 */
export function guardActivities(
  client: Client,
  startedBy: (folder: string) => Promise<Execution | undefined>,
): ActivityInterceptorsFactory {
  const genuine = new Set<string>();
  return before(async ({ workflowExecution: caller, activityType }, input) => {
    const place = input as BatchPlace;
    const callerKey = `${caller?.runId} ${place.folder}`;
    if (BEFORE_START.has(activityType) || genuine.has(callerKey)) return;
    await refuseStranger(client, caller, startedBy, place);
    if (genuine.size >= KEPT_MAX) genuine.clear();
    genuine.add(callerKey);
  });
}

/** Retryable: nothing was sent, and a batch that is being rebuilt gets its new mark soon. */
async function refuseStranger(
  client: Client,
  caller: Execution | undefined,
  startedBy: (folder: string) => Promise<Execution | undefined>,
  { batch, folder }: BatchPlace,
): Promise<void> {
  const started = await startedBy(folder).catch((error: unknown) => {
    // The folder or S3 is away; nothing was sent yet.
    throw ApplicationFailure.create({ message: errorMessage(error), type: 'NothingSent' });
  });
  if (caller !== undefined && started?.workflowId === caller.workflowId) {
    if (started.runId === caller.runId) return;
    const { firstRunId, wasReset } = await originOf(client, caller);
    if (firstRunId === started.runId && !wasReset) return;
  }
  const message = codedMessage(problem('E515', { batch, folder }));
  throw ApplicationFailure.create({ message, type: 'NothingSent' });
}

/** Read from the first event, which a reset copies from the original run. */
async function originOf(client: Client, { workflowId, runId }: Execution): Promise<Origin> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const attributes = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    firstRunId: attributes?.firstExecutionRunId ?? '',
    wasReset: attributes?.originalExecutionRunId !== runId,
  };
}

// Lets only the first attempt of `queueRuns` send its group (R1). The workflow allows one attempt, but anyone with access to the
// server can change that (temporal activity update-options, reset), and then the server schedules another one.

/** Runs before everything that may fail with `NothingSent`, which would be wrong for a second attempt: its rows would be sent again. */
export const onlyFirstTry = before((info) => {
  // A reset clears the attempt count and possibly the heartbeats, but not the time of the first schedule.
  const isFirst =
    info.attempt === 1 &&
    info.heartbeatDetails === undefined &&
    info.currentAttemptScheduledTimestampMs === info.scheduledTimestampMs;
  if (info.activityType === 'queueRuns' && !isFirst) throw mayBeSent();
});

const mayBeSent = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'Temporal scheduled this group again, and an earlier attempt may have sent it',
    type: 'MayBeSent',
    nonRetryable: true,
  });

const REMEMBERED_MOST = 50_000;
/** The groups that this process has begun, the oldest first. */
const begun = new Set<string>();

/** Sends no group twice in one process: a stranger that answers a workflow task can schedule a copy of an earlier call. */
export const onlyOnce = before(({ activityType, activityId, workflowExecution }) => {
  if (activityType !== 'queueRuns') return;
  const call = `${workflowExecution?.runId} ${activityId}`;
  if (begun.has(call)) throw mayBeSent();
  begun.add(call);
  const [oldest = ''] = begun;
  if (begun.size > REMEMBERED_MOST) begun.delete(oldest);
});

type Input = { readonly definition: ScheduleDefinition; readonly nominalTime: number };

export const guardFirings = (tickets: TicketFolder): ActivityInterceptorsFactory =>
  before(({ activityType, workflowExecution }, input) => {
    const { definition, nominalTime } = (input ?? {}) as Input;
    const firing = { nominalTime, run: workflowExecution?.runId ?? '' };
    if (activityType === 'createFiring')
      refuse(definition.name, tickets.refusal(definition, firing, Date.now()));
    // A refused firing must not send anything.
    if (activityType === 'notifyFiring' && !tickets.isLast(definition, firing))
      refuse(definition.name, 'its batch was refused before');
  });

function refuse(name: string, reason: string | undefined): void {
  if (reason === undefined) return;
  const refused = problem('E561', { name, reason });
  throw ApplicationFailure.nonRetryable(codedMessage(refused), refused.code);
}
