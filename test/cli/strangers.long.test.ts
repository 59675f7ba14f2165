// Another user of the machine attacks the embedded Temporal: he knows its address and namespace, which every list of processes
// shows, and has no key.

import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { leaksIn } from '../secrets/search.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { Stage, until } from '../stage/stage.ts';

const ROWS = 12;
const { WORKFLOW_EXECUTION_STATUS_FAILED } = proto.temporal.api.enums.v1.WorkflowExecutionStatus;
const { WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE } = proto.temporal.api.enums.v1.WorkflowIdReusePolicy;
const { History } = proto.temporal.api.history.v1;
const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

describe('an attacker with access to the embedded Temporal', () => {
  const stage = new Stage();
  let client: Client;
  let namespace = '';
  let batch = '';
  let mark = '';
  let ownId = '';
  /** The history of the owner's batch. */
  let kept: Awaited<ReturnType<typeof events>> = [];

  beforeAll(async () => {
    await stage.start(['dev']).says(/service +http/);
    const { temporal } = readRecord(stage.path('.runsheet')) ?? {};
    namespace = temporal?.namespace ?? '';
    client = new Client({
      connection: await Connection.connect({ address: temporal?.address ?? '' }),
      namespace,
    });
    const run = ['run', stage.sheet(ROWS), '-d', 'portraits', '--local'];
    await stage.start(run).says(new RegExp(`${ROWS} of ${ROWS} rows succeeded`));
    ({ batch, mark } = stage.batchFile());
    ownId = workflowIdOf({ batch, mark });
    kept = await events();
  });
  afterAll(async () => {
    await client.connection.close();
    await stage.close();
  });

  const runs = async (): Promise<number> => {
    const local = JSON.parse(readFileSync(stage.path('.runsheet', 'local-service.json'), 'utf8')) as {
      base: string;
      token: string;
    };
    return (await stage.truth(local.base, local.token)).length;
  };
  const events = async () => (await client.workflow.getHandle(ownId).fetchHistory()).events ?? [];
  const describeIt = (workflowId: string) =>
    client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });

  const start = (
    workflowId: string,
    payloads: readonly Payload[],
    memo: Readonly<Record<string, Payload>> = {},
  ) =>
    client.workflowService.startWorkflowExecution({
      namespace,
      workflowId,
      workflowType: { name: 'runsheetBatch' },
      taskQueue: { name: 'runsheet' },
      input: { payloads: [...payloads] },
      requestId: randomUUID(),
      memo: { fields: memo },
      workflowIdReusePolicy: WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
    });
  it('reads neither folder nor run ids nor outcomes in the data of Temporal', async () => {
    expect(kept.length).toBeGreaterThan(20);
    const searched = {
      folder: stage.folder,
      outcome: 'succeeded',
      run: stage.results()[0]?.['run_id'] ?? '',
    };
    expect(searched.run).not.toBe('');
    expect(leaksIn(History.encode({ events: [...kept] }).finish(), searched, 'history')).toEqual([]);
  });

  it('buys no run by starting a batch, and blocks no command of the owner', async () => {
    const folder = stage.path('stranger', 'forged');
    cpSync(stage.batch(), folder, { recursive: true });
    for (const name of ['started.json', 'summary.json', 'results.csv']) rmSync(`${folder}/${name}`);
    const before = await runs();
    const forgedId = workflowIdOf({ batch: 'forged', mark });
    await start(forgedId, [plain({ batch: 'forged', mark, folder })], { folder: plain(folder) });
    await until(async () => {
      const { pendingWorkflowTask } = await describeIt(forgedId);
      return (pendingWorkflowTask?.attempt ?? 0) > 2;
    }, 'the start was refused twice');
    expect(await runs()).toBe(before);
    expect(existsSync(`${folder}/started.json`)).toBe(false);
    for (const args of [['list'], ['status', batch], ['doctor']]) {
      const { stdout, stderr } = await stage.run(args);
      expect([args, stdout + stderr]).toEqual([args, expect.not.stringContaining('E408')]);
    }
  });

  it('buys no run by replaying the input of an earlier group to a worker', async () => {
    const group = kept
      .map(({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes)
      .find((scheduled) => scheduled?.activityType?.name === 'queueRuns');
    expect(group?.input?.payloads?.length).toBe(1);
    const before = await runs();
    await client.workflowService.startActivityExecution({
      namespace,
      activityId: 'replayed',
      activityType: { name: 'queueRuns' },
      taskQueue: { name: 'runsheet' },
      input: group?.input ?? null,
      requestId: randomUUID(),
      startToCloseTimeout: msToTs('20s'),
      retryPolicy: { maximumAttempts: 1 },
    });
    const ended = await client.workflowService.pollActivityExecution({ namespace, activityId: 'replayed' });
    expect(await runs()).toBe(before);
    expect(ended.outcome?.failure ?? undefined).toBeDefined();
  });

  it('buys no run by resetting the batch to the moment before its first group', async () => {
    const group = kept
      .map(({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes)
      .find((scheduled) => scheduled?.activityType?.name === 'queueRuns');
    const before = await runs();
    const { runId } = await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: ownId },
      workflowTaskFinishEventId: group?.workflowTaskCompletedEventId ?? null,
      requestId: randomUUID(),
    });
    const reset = client.workflow.getHandle(ownId, runId);
    await until(async () => {
      const { events: since } = await reset.fetchHistory();
      const failed = since?.find(({ activityTaskFailedEventAttributes: failure }) => failure != null);
      return failed !== undefined;
    }, 'the group was refused');
    expect(await runs()).toBe(before);
    // The results of the run before are not its own, so it may have failed already.
    await reset.terminate().catch(() => undefined);
  });

  it('buys no run by starting the same batch again with the input of its first start', async () => {
    const { input, memo } = kept[0]?.workflowExecutionStartedEventAttributes ?? {};
    const before = await runs();
    // Removes the summary, as if the batch had been ended before its results were written.
    rmSync(`${stage.batch()}/summary.json`);
    await start(ownId, input?.payloads ?? [], memo?.fields ?? {});
    await until(async () => {
      const { workflowExecutionInfo } = await describeIt(ownId);
      return workflowExecutionInfo?.status === WORKFLOW_EXECUTION_STATUS_FAILED;
    }, 'the batch was refused');
    expect(await runs()).toBe(before);
    const said = await stage.run(['run', stage.path('sheet.csv'), '-d', 'portraits', '--local']);
    expect([said.code, said.stderr]).toEqual([5, expect.stringContaining('error[E508]')]);

    // The lists are complete some seconds later, and then the owner has his batch back.
    await until(async () => (await stage.run(['resume', batch, '--recover'])).code === 0, 'it is rebuilt');
    expect(await runs()).toBe(before);
  });

  it('cannot block a batch permanently by starting another workflow in its place', async () => {
    const before = await runs();
    rmSync(`${stage.batch()}/summary.json`);
    const memo = { folder: plain('/elsewhere'), progress: plain({}) };
    await start(ownId, [plain({ batch, mark, folder: stage.batch() })], memo);
    const { code, stderr } = await stage.run(['status', batch]);
    expect([code, stderr]).toEqual([4, expect.stringContaining('error[E408]')]);
    await until(async () => (await stage.run(['resume', batch, '--recover'])).code === 0, 'it is rebuilt');
    expect(await runs()).toBe(before);
  });
});

describe('a batch folder', () => {
  const stage = sharedStage();

  it('outside RUNSHEET_OUT is refused by workers with E411, and nothing is sent', async () => {
    await stage.temporal();
    await stage.service();
    await stage.worker();
    const elsewhere = stage.path('elsewhere', 'batches');
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '--out', elsewhere];
    const { code, stderr } = await stage.run(args);
    expect([code, stderr]).toEqual([5, expect.stringContaining('error[E411]')]);
    expect(stderr).toContain(`RUNSHEET_OUT=${elsewhere}`);
    expect(await stage.truth()).toEqual([]);
  });

  it('of any --out is used by embedded servers, also after a command without --out restarts them', async () => {
    const place = new Stage();
    const elsewhere = place.path('elsewhere');
    const running = place.start(['run', place.sheet(30), '-d', 'portraits', '--local', '--out', elsewhere]);
    await running.says(/done=[1-9]/);
    await running.kill('SIGINT');
    const dev = place.start(['dev']);
    await dev.says(/service +http/);
    const after = place.start(['follow', '--out', elsewhere]);
    const { code, stderr } = await after.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('30 of 30 rows succeeded')]);
    await place.close();
  });
});
