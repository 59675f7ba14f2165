// Two releases on one queue: the older one (A) reads versions up to the next one and begins batches in the current one; the newer one
// (B) reads one more and begins in the next one. In the next version a group has one row.

import { heartbeat } from '@temporalio/activity';
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkflowBundle } from '../../src/temporal/bundle.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { until } from '../stage/stage.ts';
import { OLDEST, READS } from '../../src/batch/behaviour-version.ts';
import { bundleOf, NEXT } from './generations.ts';
import { accepted, rigFor, refOf, Script } from './rig.ts';

const ROWS = 12;

describe('while batches run, a newer release', () => {
  const script = new Script();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  let a: WorkflowBundle;
  let b: WorkflowBundle;
  let workers: { stop(): Promise<void> }[] = [];
  const rig = rigFor(script, { hasWorker: false }, async () => {
    [a, b] = await Promise.all([
      bundleOf({ reads: NEXT, writes: READS }),
      bundleOf({ reads: NEXT + 1, writes: NEXT }),
    ]);
  });
  afterEach(async () => {
    for (const gate of gates.values()) gate.resolve();
    await stopAll();
  });

  const worker = async (bundle: WorkflowBundle): Promise<void> => {
    workers.push(await rig.worker(bundle));
  };
  const stopAll = async (): Promise<void> => {
    await Promise.all(workers.map(({ stop }) => stop()));
    workers = [];
  };

  /** Begins a batch in a version; its groups are answered only while its gate is open. */
  async function begin(batch: string, version: number): Promise<void> {
    script.rows.set(batch, ROWS);
    script.groups.delete(batch);
    close(batch);
    script.sends.set(batch, async (attempts) => {
      const alive = setInterval(() => heartbeat({ results: [] }), 500);
      await gates.get(batch)?.promise;
      clearInterval(alive);
      return attempts.map(accepted);
    });
    const args = [{ ...refOf(batch), version }];
    await rig.client.workflow.start('runsheetBatch', {
      workflowId: workflowIdOf(refOf(batch)),
      taskQueue: TASK_QUEUE,
      // Replaces the workflow of an earlier try of this test.
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      workflowTaskTimeout: '5s',
      args,
      memo: { folder: '/nowhere' },
    });
  }
  const close = (batch: string): void => void gates.set(batch, Promise.withResolvers<void>());
  const open = (batch: string): void => gates.get(batch)?.resolve();
  const sent = (batch: string): number => script.groups.get(batch)?.flat().length ?? 0;
  const sizes = (batch: string): readonly number[] =>
    (script.groups.get(batch) ?? []).map(({ length }) => length);

  /** The version of the execution that the batch has now. */
  async function versionOf(batch: string): Promise<number> {
    const { events } = await rig.client.workflow.getHandle(workflowIdOf(refOf(batch))).fetchHistory();
    const input =
      events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data ?? new Uint8Array();
    return (JSON.parse(Buffer.from(input).toString()) as { version: number }).version;
  }

  async function expectEveryRowOnce(batch: string): Promise<void> {
    expect(await rig.result(batch)).toMatchObject({ done: ROWS, ledger: { sent: ROWS, accepted: ROWS } });
    const rows = (script.groups.get(batch) ?? []).flat().map(({ place }) => place);
    expect(rows.sort((x, y) => x - y)).toEqual(Array.from({ length: ROWS }, (_, at) => at + 1));
  }

  it('continues batches of the older one, beside it and alone, and sends each row once', async () => {
    await worker(a);
    const batches = ['one', 'two', 'three'];
    for (const batch of batches) await begin(batch, OLDEST);
    await until(() => batches.every((batch) => sent(batch) === 2), 'each has its first group on the wire');
    await worker(b);
    open('one');
    await expectEveryRowOnce('one');
    // The older one answers what it has on the wire, and takes nothing more.
    const stopped = workers.shift()?.stop();
    open('two');
    open('three');
    await stopped;
    await expectEveryRowOnce('two');
    await expectEveryRowOnce('three');
    expect(Math.max(...sizes('two'))).toBe(2);
    // A workflow run keeps its version.
    expect(await versionOf('two')).toBe(OLDEST);
  });

  it('starts batches that the older one continues as new without lowering their version', async () => {
    await worker(a);
    await begin('newer', NEXT);
    await until(() => sent('newer') === 2, 'its first groups are on the wire');
    const refreshed = rig.batches.refresh(refOf('newer'));
    open('newer');
    await refreshed;
    expect(await versionOf('newer')).toBe(NEXT);
    await expectEveryRowOnce('newer');
    expect(new Set(sizes('newer'))).toEqual(new Set([1]));
  });

  it('raises the version of an older batch when it is refreshed, and the older release reads it', async () => {
    await worker(b);
    await begin('raised', READS);
    await until(() => sent('raised') === 2, 'its first group is on the wire');
    const refreshed = rig.batches.refresh(refOf('raised'));
    open('raised');
    await refreshed;
    close('raised');
    expect(await versionOf('raised')).toBe(NEXT);
    // The newer one answers what it has on the wire, and takes nothing more.
    const stopped = workers.shift()?.stop();
    open('raised');
    await stopped;
    await worker(a);
    await expectEveryRowOnce('raised');
  });

  it('continues a batch whose version the older one cannot read; meanwhile nothing is sent', async () => {
    await worker(a);
    await begin('newest', NEXT + 1);
    open('newest');
    const failure = async (): Promise<string> => {
      const { events } = await rig.client.workflow.getHandle(workflowIdOf(refOf('newest'))).fetchHistory();
      return JSON.stringify(
        events?.map(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message),
      );
    };
    await until(
      async () => (await failure()).includes(`understands batches up to version ${NEXT}`),
      'the older one says so',
    );
    expect(sent('newest')).toBe(0);
    await workers.shift()?.stop();
    await worker(b);
    await expectEveryRowOnce('newest');
  });
});
