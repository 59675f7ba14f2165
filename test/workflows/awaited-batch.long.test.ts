// Workflows that await batches, on a real Temporal server: whatever is cancelled, a batch that was made ends every row.

import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { CancelledFailure, defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { bundleWorkflowCode } from '@temporalio/worker';
import pino from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewBatch, WrittenCall } from '../../activities/create-batch.ts';
import { workflowIdOf, type BatchRef } from '../../src/batch/workflow-ids.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import type { runsheetFiring } from '../../workflows/firing-workflow.ts';
import { definitionOf } from '../schedule/definition.ts';
import { registerSearchAttributes, searchAttributesFor } from '../../src/temporal/search-attributes.ts';
import { until } from '../stage/stage.ts';
import type { order, thoroughOrder } from './awaiting.ts';
import { rigFor, refOf, Script } from './rig.ts';

type Make = (call: WrittenCall) => Promise<NewBatch | undefined>;

const newBatch = (name: string): NewBatch => ({
  ...refOf(name),
  version: WRITES,
  rows: 2,
  reused: 0,
  hasEnded: false,
  encrypted: false,
  summary: '2 rows · portraits · owls.csv',
  details: '| rows | 2 |',
  searchAttributes: [],
});

class Awaiting extends Script {
  make: Make = async ({ callId }) => newBatch(callId);
  /** Whether loading a batch waits for {@link loading}. */
  loading = Promise.resolve();
  awaited: BatchRef[] = [];

  override work(client: Client) {
    const work = super.work(client);
    return {
      ...work,
      loadBatch: async (ref: BatchRef) => {
        await this.loading;
        return work.loadBatch(ref);
      },
      createBatch: (call: WrittenCall) => this.make(call),
      createFiring: ({ definition, ...more }: { definition: { name: string } }) =>
        this.make({ callId: definition.name, ...more } as unknown as WrittenCall),
      awaitBatch: async (ref: BatchRef) => {
        const { status } = await client.workflow.getHandle(workflowIdOf(ref)).describe();
        if (status.name === 'RUNNING') throw new Error('it has not ended');
        this.awaited.push(ref);
        return { batch: ref.batch, folder: ref.folder };
      },
    };
  }
}

describe('a workflow that awaits a batch', () => {
  const script = new Awaiting();
  const rig = rigFor(script, { hasWorker: false }, async ({ worker }) => {
    const workflowsPath = fileURLToPath(new URL('awaiting.ts', import.meta.url));
    await worker(await bundleWorkflowCode({ workflowsPath }));
  });
  beforeEach(() => {
    script.awaited = [];
    script.loading = Promise.resolve();
    script.make = async ({ callId }) => newBatch(callId);
  });

  const start = (key: string) =>
    rig.client.workflow.start<typeof order>('order', { taskQueue: TASK_QUEUE, workflowId: key, args: [key] });
  const fire = (name: string) =>
    rig.client.workflow.start<typeof runsheetFiring>('runsheetFiring', {
      taskQueue: TASK_QUEUE,
      workflowId: name,
      args: [definitionOf({ name })],
      typedSearchAttributes: new TypedSearchAttributes([
        { key: defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME'), value: new Date() },
      ]),
    });
  const failureOf = async (result: Promise<unknown>): Promise<Error | undefined> => {
    const error = await result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    return (error as WorkflowFailedError).cause;
  };
  const exists = async (batch: string): Promise<boolean> =>
    rig.client.workflow
      .getHandle(workflowIdOf(refOf(batch)))
      .describe()
      .then(() => true)
      .catch(() => false);
  const expectCancelled = async (batch: string, result: Promise<unknown>): Promise<void> => {
    expect(await failureOf(result)).toBeInstanceOf(CancelledFailure);
    await expectEnded(batch);
  };
  const expectEnded = async (batch: string): Promise<void> => {
    const { state, rows } = await rig.result(batch);
    expect([state, rows]).toEqual(['finished', 2]);
  };

  describe.each([
    ['that calls runBatch', start],
    ['that fires a schedule', fire],
  ])('%s', (kind, begin) => {
    const named = (name: string): string => `${name}-${kind.split(' ').at(-1)}`;

    it('starts and cancels a batch that was made although the call was cancelled', async () => {
      const batch = named('late');
      const begun = Promise.withResolvers<void>();
      script.make = async ({ callId }) => {
        begun.resolve();
        const beat = setInterval(() => Context.current().heartbeat(), 200);
        await Context.current().cancelled.catch(() => clearInterval(beat));
        return newBatch(callId);
      };
      const handle = await begin(batch);
      await begun.promise;
      await handle.cancel();
      await expectCancelled(batch, handle.result());
      expect(script.groups.get(batch)).toBeUndefined();
    });

    it('starts a batch with the page and the search attributes that its maker names', async () => {
      const batch = named('shown');
      const callId = defineSearchAttributeKey('RunsheetSheet', 'KEYWORD');
      await registerSearchAttributes(
        rig.client.connection,
        rig.client.options.namespace,
        pino({ level: 'silent' }),
      );
      const attributes = () =>
        searchAttributesFor(rig.client, {
          deployment: 'portraits',
          sheet: 'owls.csv',
          rows: 2,
          content: 'c',
        });
      await until(async () => (await attributes()).length > 0, 'the server knows the search attributes');
      const searchAttributes = await attributes();
      script.make = async () => ({ ...newBatch(batch), searchAttributes });
      await (await begin(batch)).result();
      const child = await rig.client.workflow.getHandle(workflowIdOf(refOf(batch))).describe();
      expect([await child.staticSummary(), await child.staticDetails()]).toEqual([
        '2 rows · portraits · owls.csv',
        '| rows | 2 |',
      ]);
      expect(child.typedSearchAttributes.get(callId)).toBe('owls.csv');
    });

    it('finds such a batch also if its maker was killed before it could say so', async () => {
      const batch = named('killed');
      const begun = Promise.withResolvers<void>();
      script.make = async ({ callId, findOnly }) => {
        if (findOnly) return newBatch(callId);
        begun.resolve();
        throw new Error('the run service is away');
      };
      const handle = await begin(batch);
      await begun.promise;
      await handle.cancel();
      await expectCancelled(batch, handle.result());
      expect(script.groups.has(batch)).toBe(false);
    });

    it('that is cancelled before a batch was made ends without one', async () => {
      const batch = named('none');
      const begun = Promise.withResolvers<void>();
      script.make = async ({ findOnly }) => {
        if (findOnly) return undefined;
        begun.resolve();
        throw new Error('the run service is away');
      };
      const handle = await begin(batch);
      await begun.promise;
      await handle.cancel();
      await failureOf(handle.result());
      expect((await handle.describe()).status.name).toBe('CANCELLED');
      expect(await exists(batch)).toBe(false);
    });

    it('attaches to a batch that another started, and passes its cancellation on', async () => {
      const batch = named('shared');
      script.sends.set(batch, async (_, __, hang) => hang);
      await rig.batches.start(refOf(batch));
      const handle = await begin(batch);
      await until(async () => (script.groups.get(batch) ?? []).length > 0, 'the batch sends');
      await until(async () => {
        const { raw } = await handle.describe();
        return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'awaitBatch');
      }, 'the batch is awaited');
      expect(script.awaited).toEqual([]);
      await handle.cancel();
      await expectCancelled(batch, handle.result());
    });

    it('runs no batch again that has ended before', async () => {
      const batch = named('ended');
      await rig.batches.start(refOf(batch));
      await rig.result(batch);
      expect((await (await begin(batch)).result()).batch).toBe(batch);
      script.make = async ({ callId }) => ({ ...newBatch(callId), hasEnded: true });
      expect((await (await begin(batch)).result()).batch).toBe(batch);
      expect(script.groups.get(batch)).toHaveLength(1);
    });
  });

  it('cancels a batch that has not read its parameters yet, and it ends every row and tells its summary', async () => {
    const loaded = Promise.withResolvers<void>();
    script.loading = loaded.promise;
    const handle = await rig.client.workflow.start<typeof thoroughOrder>('thoroughOrder', {
      taskQueue: TASK_QUEUE,
      workflowId: 'early',
      args: ['early'],
    });
    await until(() => exists('early'), 'the batch is started');
    await handle.cancel();
    const early = rig.client.workflow.getHandle(workflowIdOf(refOf('early')));
    await until(async () => {
      const { raw } = await early.describe();
      return raw.workflowExtendedInfo?.cancelRequested === true;
    }, 'the batch is cancelled');
    loaded.resolve();
    expect(await handle.result()).toEqual(['cancelled', expect.objectContaining({ batch: 'early' })]);
    await expectEnded('early');
    expect(script.groups.get('early')).toBeUndefined();
  });
});
