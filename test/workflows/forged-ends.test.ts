// Everyone who can reach an embedded server can end activities with commands to Temporal alone, without a key. A group that was
// sent is not sent again because of that.

import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { workflowIdOf, type BatchRef } from '../../src/batch/workflow-ids.ts';
import { until } from '../stage/stage.ts';
import { accepted, rigFor, refOf, Script } from './rig.ts';

const ROWS = 2;
const {
  PENDING_ACTIVITY_STATE_STARTED,
  PENDING_ACTIVITY_STATE_SCHEDULED,
  PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
} = proto.temporal.api.enums.v1.PendingActivityState;
const { TIMEOUT_TYPE_START_TO_CLOSE, TIMEOUT_TYPE_SCHEDULE_TO_START, TIMEOUT_TYPE_HEARTBEAT } =
  proto.temporal.api.enums.v1.TimeoutType;

describe('a group that was sent and is ended without its worker is not sent again', () => {
  const script = new Script();
  const rig = rigFor(script, { isSealed: true });

  const service = () => rig.client.workflowService;
  const execution = (batch: BatchRef) => ({ workflowId: workflowIdOf(batch) });
  const pending = async (batch: BatchRef) => {
    const described = await service().describeWorkflowExecution({
      namespace: 'stage',
      execution: execution(batch),
    });
    return described.pendingActivities?.find(({ activityType }) => activityType?.name === 'queueRuns');
  };
  const inState = (batch: BatchRef, wanted: number) =>
    until(
      async () => Number((await pending(batch))?.state) === wanted,
      `its group has state ${wanted}`,
      20_000,
    );
  const callOf = async (batch: BatchRef) => ({
    namespace: 'stage',
    ...execution(batch),
    activityId: (await pending(batch))?.activityId ?? '',
  });
  const fail = async (batch: BatchRef, failure: object) =>
    service().respondActivityTaskFailedById({
      ...(await callOf(batch)),
      failure: { message: 'x', ...failure },
    });
  async function paused(batch: BatchRef, wanted: number | undefined): Promise<void> {
    rig.batches.pause(batch).catch(() => undefined);
    await (wanted === undefined
      ? until(async () => (await pending(batch)) === undefined, 'its group is cancelled')
      : inState(batch, wanted));
  }
  const resumed = (batch: BatchRef): void => void rig.batches.resume(batch).catch(() => undefined);

  const ENDS: Readonly<Record<string, (batch: BatchRef) => Promise<unknown>>> = {
    'failed as if it took too long': (batch) =>
      fail(batch, { timeoutFailureInfo: { timeoutType: TIMEOUT_TYPE_START_TO_CLOSE } }),
    'failed as if no worker took it': (batch) =>
      fail(batch, { timeoutFailureInfo: { timeoutType: TIMEOUT_TYPE_SCHEDULE_TO_START } }),
    'failed as if its worker was lost': (batch) =>
      fail(batch, { timeoutFailureInfo: { timeoutType: TIMEOUT_TYPE_HEARTBEAT } }),
    'failed as if it was cancelled': (batch) => fail(batch, { canceledFailureInfo: {} }),
    'failed as if nothing was sent': (batch) =>
      fail(batch, { applicationFailureInfo: { type: 'NothingSent', nonRetryable: true } }),
    'failed as if the server failed': (batch) => fail(batch, { serverFailureInfo: {} }),
    'given no heartbeats until it timed out': async (batch) =>
      until(async () => (await pending(batch)) === undefined, 'its group timed out', 20_000),
    'cancelled while it is paused': async (batch) => {
      await paused(batch, PENDING_ACTIVITY_STATE_CANCEL_REQUESTED);
      await service().respondActivityTaskCanceledById(await callOf(batch));
      resumed(batch);
    },
    'cancelled between two tries': async (batch) => {
      const { activityId, ...call } = await callOf(batch);
      await service().updateActivityOptions({
        namespace: call.namespace,
        execution: execution(batch),
        id: activityId,
        activityOptions: { retryPolicy: { maximumAttempts: 9, initialInterval: msToTs('1m') } },
        updateMask: { paths: ['retry_policy.maximum_attempts', 'retry_policy.initial_interval'] },
      });
      await fail(batch, { applicationFailureInfo: {} });
      await inState(batch, PENDING_ACTIVITY_STATE_SCHEDULED);
      await paused(batch, undefined);
      resumed(batch);
    },
  };

  it.concurrent.each(Object.entries(ENDS).map(([how, end], at) => ({ how, end, at })))(
    '$how',
    async ({ end, at }) => {
      const batch = refOf(`ended-${at}`);
      script.sends.set(batch.batch, async (attempts, nth, hang) =>
        nth === 1 ? hang : attempts.map(accepted),
      );
      await rig.batches.start(batch);
      await until(() => script.groups.has(batch.batch), 'its group is sent', 20_000);
      await inState(batch, PENDING_ACTIVITY_STATE_STARTED);
      await end(batch);
      const progress = await rig.result(batch.batch);
      expect(script.groups.get(batch.batch)?.length).toBe(1);
      expect(progress.tally.outcomes.succeeded).toBe(ROWS);
    },
  );
});
