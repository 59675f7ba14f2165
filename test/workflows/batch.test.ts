// The workflow as it is, on a real Temporal server; its activities do what a test says. What is bought here is a call.

import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TASK_QUEUE, workflowIdOf, workQueueOf } from '../../src/batch/ids.ts';
import { pack } from '../../src/batch/carry.ts';
import { LEASE_MS } from '../../src/batch/limits.ts';
import type { Answer, AttemptName, End, RowEnd, Seen } from '../../src/batch/messages.ts';
import { begin } from '../../src/batch/state.ts';
import { NO_TALLY, tallyOutcome } from '../../src/batch/tally.ts';
import type { BatchView } from '../../src/batch/view.ts';
import { batchLine, openBatches } from '../../src/temporal/batches.ts';
import { workflowBundle } from '../../src/temporal/bundle.ts';
import { connectWorker } from '../../src/temporal/connect.ts';
import { orderOf, TIMING } from '../batch/world.ts';
import { Stage, until } from '../stage/stage.ts';

/** What the nth sending of a group of this batch does; `hang` never answers. */
type Sends = (
  attempts: readonly AttemptName[],
  nth: number,
  hang: Promise<never>,
) => Promise<readonly Answer[]>;
type Place = { readonly batch: string };

const runOf = ({ row, attempt }: AttemptName): Seen => ({ row, attempt, runId: `run-${row}-${attempt}` });
const accepted = (name: AttemptName): Answer => ({ ...name, became: 'accepted', runId: runOf(name).runId });

describe('the workflow of a batch', () => {
  const stage = new Stage();
  const sends = new Map<string, Sends>();
  const groups = new Map<string, AttemptName[][]>();
  const hanging = Promise.withResolvers<never>();
  hanging.promise.catch(() => undefined);
  let client: Client;
  let stop: () => Promise<unknown>;
  let heartbeatTimeoutMs = 0;

  const queueRuns = async ({ batch, attempts }: Place & { attempts: AttemptName[] }) => {
    heartbeatTimeoutMs = activityInfo().heartbeatTimeoutMs ?? 0;
    const sent = [...(groups.get(batch) ?? []), attempts];
    groups.set(batch, sent);
    return sends.get(batch)?.(attempts, sent.length, hanging.promise);
  };
  const endOf = (name: AttemptName): End => ({ ...runOf(name), outcome: 'succeeded' });
  const work = {
    plan: async ({ batch }: Place) => orderOf({ batch, rows: 2, cap: 2, retries: 0, timing: TIMING }),
    /** Every run that the batch knows of has succeeded. */
    lookAtRuns: async ({ batch, runs }: Place & { runs: AttemptName[] }) => {
      await batchLine(client).tellEnds(batch, 'look', runs.map(endOf));
    },
    /** The list shows whatever it is asked for. */
    lookInLists: async ({ attempts }: { attempts: AttemptName[] }) => ({
      askedAt: Date.now(),
      answer: 'complete',
      found: attempts.map(runOf),
      control: false,
    }),
    collect: async ({ rows }: { rows: RowEnd[] }) => tallyOutcome(NO_TALLY, 'succeeded', rows.length),
    close: async () => undefined,
    cancelRuns: async () => undefined,
  };

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    await stage.temporal();
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const made = await connectWorker({ address, namespace, from: 'the test', options: {} }, 20_000, {});
    client = made.client;
    const shared = { connection: made.connection, namespace, shutdownGraceTime: '10s' };
    const workers = await Promise.all([
      Worker.create({
        ...shared,
        taskQueue: TASK_QUEUE,
        workflowBundle: await workflowBundle(),
        activities: { queueRuns },
      }),
      Worker.create({ ...shared, taskQueue: workQueueOf(TASK_QUEUE), activities: work }),
    ]);
    const running = Promise.all(workers.map((worker) => worker.run()));
    stop = async () => {
      hanging.reject(new Error('the test is over'));
      for (const worker of workers) worker.shutdown();
      await running;
      await made.connection.close();
    };
  });
  afterAll(async () => {
    await stop();
    await stage.close();
  });

  /** Brings a batch of two rows to its end: its last view, and the groups that were sent. */
  async function bring(batch: string, how: Sends): Promise<{ view: BatchView; sent: AttemptName[][] }> {
    sends.set(batch, how);
    await openBatches(() => client).start({ batch, folder: '/nowhere' });
    const view = (await client.workflow.getHandle(workflowIdOf(batch)).result()) as BatchView;
    expect(view.tally.outcomes.succeeded).toBe(2);
    return { view, sent: groups.get(batch) ?? [] };
  }
  const both = [
    { row: 1, attempt: 1 },
    { row: 2, attempt: 1 },
  ];

  it.concurrent('gives a group to no second worker where the first one failed in the middle of it', async () => {
    const { view, sent } = await bring('failed', async (attempts, nth) => {
      if (nth === 1) throw new Error('out of memory');
      return attempts.map(accepted);
    });
    expect(sent).toEqual([both]);
    expect(view.ledger).toMatchObject({ sent: 2, uncertain: 2, adopted: { list: 2 } });
  });

  it.concurrent('knows of a lost worker what its heartbeats had told, and doubts only the rest', async () => {
    const { view, sent } = await bring('lost', async ([first], _, hang) => {
      heartbeat([first && accepted(first)]);
      return hang;
    });
    expect(sent).toEqual([both]);
    expect(view.ledger).toMatchObject({ sent: 2, accepted: 1, uncertain: 1, adopted: { list: 1 } });
  });

  it.concurrent('sends again what a lost worker had never told of: no order had begun', async () => {
    const { view, sent } = await bring('silent', async (attempts, nth, hang) =>
      nth === 1 ? hang : attempts.map(accepted),
    );
    expect(sent).toEqual([both, both]);
    expect(view.ledger).toMatchObject({ sent: 2, accepted: 2, uncertain: 0 });
  });

  it.concurrent('sends again what could not even be read', async () => {
    const { view, sent } = await bring('unread', async (attempts, nth) => {
      if (nth === 1) throw ApplicationFailure.nonRetryable('EIO', 'NothingSent');
      return attempts.map(accepted);
    });
    expect(sent).toEqual([both, both]);
    expect(view.ledger).toMatchObject({ sent: 2, accepted: 2, uncertain: 0 });
  });

  it('is started once, also when it has long ended', async () => {
    await bring('done', async (attempts) => attempts.map(accepted));
    const again = await openBatches(() => client).start({ batch: 'done', folder: '/nowhere' });
    expect(again).toBe('closed');
  });

  it('that stands still is given up, and begun again from what remained of it', async () => {
    const batches = openBatches(() => client);
    sends.set('stuck', async (_, __, hang) => hang);
    await batches.start({ batch: 'stuck', folder: '/nowhere' });
    await until(() => groups.has('stuck'), 'its group is under way');
    expect(await batches.start({ batch: 'stuck', folder: '/nowhere' })).toBe('running');
    await batches.giveUp('stuck');
    const order = orderOf({ batch: 'stuck', rows: 2, cap: 2, retries: 0, timing: TIMING });
    // The first row has its run; the second was never bought.
    const first = {
      phase: 'running',
      row: 1,
      attempt: 1,
      tries: 0,
      past: [],
      runId: 'run-1-1',
      since: 0,
    } as const;
    const carried = { ...pack(begin(order, Date.now())), cursor: 2, entries: [first] };
    sends.set('stuck', async (attempts) => attempts.map(accepted));
    groups.delete('stuck');
    const begun = await batches.start(
      { batch: 'stuck', folder: '/nowhere' },
      { carried, startedAt: Date.now() },
    );
    expect(begun).toBe('started');
    const view = (await client.workflow.getHandle(workflowIdOf('stuck')).result()) as BatchView;
    expect(view.tally.outcomes.succeeded).toBe(2);
    expect(groups.get('stuck')).toEqual([[{ row: 2, attempt: 1 }]]);
  });

  it('says how it stands to whoever looks, also when it has ended, and hears every order once', async () => {
    const batches = openBatches(() => client);
    const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
    sends.set('asked', async (attempts, _, hang) => {
      await Promise.race([answered, hang]);
      return attempts.map(accepted);
    });
    await batches.start({ batch: 'asked', folder: '/nowhere' });
    await until(
      async () => (await batches.standing('asked')).view?.sending === 2,
      'it says that its group is under way',
    );
    expect(await batches.resume('asked')).toMatchObject({ state: 'running', heard: [expect.any(String)] });
    expect(await batches.cancel('asked', false)).toMatchObject({ state: 'cancelling' });
    answer(undefined);
    const handle = client.workflow.getHandle(workflowIdOf('asked'));
    expect(await handle.result()).toMatchObject({
      state: 'finished',
      done: 2,
      heard: [expect.any(String), expect.any(String)],
    });
    expect((await batches.standing('asked')).view).toMatchObject({ state: 'finished', done: 2 });
    expect((await batches.find('asked'))?.folder).toBe('/nowhere');
    await expect(batches.resume('asked')).rejects.toBeInstanceOf(WorkflowNotFoundError);
  });

  it('gives a group up only when its lease is over', () => {
    expect(heartbeatTimeoutMs).toBeGreaterThan(0);
    expect(LEASE_MS).toBeLessThan(heartbeatTimeoutMs);
  });
});
