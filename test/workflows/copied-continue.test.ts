// Everyone who can reach an embedded server can take a workflow task from its queue and answer it with copied payloads.

import { randomUUID } from 'node:crypto';
import { isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import { workflowIdOf, type BatchRef } from '../../src/batch/workflow-ids.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { until } from '../stage/stage.ts';
import { changedBundle } from './generations.ts';
import { rigFor, refOf, Script } from './rig.ts';

const ROWS = 4;
const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT, COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION } = {
  ...proto.temporal.api.enums.v1.HistoryEventFilterType,
  ...proto.temporal.api.enums.v1.CommandType,
};

/** The runs of the first rows end when the test says so, and the others at its end. */
class TwoSteps extends Script {
  readonly first = Promise.withResolvers<void>();
  readonly others = Promise.withResolvers<void>();

  override end(): void {
    for (const { resolve } of [this.first, this.others]) resolve();
    super.end();
  }

  override work(...args: Parameters<Script['work']>) {
    const work = super.work(...args);
    return {
      ...work,
      pollRuns: async (input: BatchRef & { runs: AttemptRun[] }) => {
        await (input.runs.some(({ place }) => place > 2) ? this.others : this.first).promise;
        await work.pollRuns(input);
      },
    };
  }
}

describe('a batch that a stranger continues as new', () => {
  const script = new TwoSteps();
  const rig = rigFor(script, { hasWorker: false, isSealed: true });

  it('from an earlier state of it sends nothing again', async () => {
    const bundle = await changedBundle([[/CONTINUE_AT_EVENTS=[\de]+/, 'CONTINUE_AT_EVENTS=60']]);
    const worker = await rig.worker(bundle);
    const ref = refOf('continued');
    script.rows.set(ref.batch, ROWS);
    const service = rig.client.workflowService;
    const execution = { workflowId: workflowIdOf(ref) };
    const named = { namespace: 'stage', execution };
    const groups = () => script.groups.get(ref.batch)?.length ?? 0;
    const runIdNow = async () =>
      (await service.describeWorkflowExecution(named)).workflowExecutionInfo?.execution?.runId ?? '';
    const disturb = () =>
      service.signalWorkflowExecution({
        namespace: 'stage',
        workflowExecution: execution,
        signalName: 'x',
        requestId: randomUUID(),
      });

    await rig.batches.start(ref);
    await until(() => groups() === 1, 'the first rows are sent', 20_000);
    const first = await runIdNow();
    await Promise.all(Array.from({ length: 60 }, disturb));
    await until(async () => (await runIdNow()) !== first, 'it continues as new', 20_000);
    const { history } = await service.getWorkflowExecutionHistory({
      namespace: 'stage',
      execution: { ...execution, runId: first },
      historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
    });
    const copied = history?.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    script.first.resolve();
    await until(() => groups() === 2, 'the other rows are sent', 20_000);
    await worker.stop();

    const second = await runIdNow();
    await service.resetStickyTaskQueue(named);
    await disturb();
    const command = {
      commandType: COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
      continueAsNewWorkflowExecutionCommandAttributes: {
        workflowType: { name: 'runsheetBatch' },
        taskQueue: copied?.taskQueue ?? null,
        input: copied?.input ?? null,
        memo: copied?.memo ?? null,
        workflowRunTimeout: copied?.workflowRunTimeout ?? null,
        workflowTaskTimeout: copied?.workflowTaskTimeout ?? null,
      },
    };
    const answer = async () => {
      const { taskToken } = await service.pollWorkflowTaskQueue({
        namespace: 'stage',
        taskQueue: { name: TASK_QUEUE },
        identity: 'a stranger',
      });
      await service.respondWorkflowTaskCompleted({
        namespace: 'stage',
        taskToken,
        identity: 'a stranger',
        commands: [command],
      });
      return true;
    };
    // An activity that ends meanwhile refuses the answer, and makes the server give the task again.
    const isUnhandled = (error: unknown) => isGrpcServiceError(error) && error.details === 'UnhandledCommand';
    await until(
      () => answer().catch((error: unknown) => (isUnhandled(error) ? false : Promise.reject(error))),
      'the answer of the stranger is taken',
      20_000,
    );
    const third = await runIdNow();
    expect(new Set([first, second, third]).size).toBe(3);

    await rig.worker(bundle);
    const handle = rig.client.workflow.getHandle(execution.workflowId, third);
    const refused = async () =>
      (await handle.fetchHistory()).events?.find((event) => event.workflowTaskFailedEventAttributes != null);
    await until(async () => (await refused()) !== undefined || groups() > 2, 'its input is read', 30_000);
    expect(groups()).toBe(2);
    expect((await refused())?.workflowTaskFailedEventAttributes).toBeDefined();
  });
});
