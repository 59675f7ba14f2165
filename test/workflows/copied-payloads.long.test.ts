// Everyone who can reach an embedded server can read its payloads, which are encrypted, and send them again in other places.

import { randomBytes, randomUUID } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import { workflowIdOf, type BatchRef } from '../../src/batch/workflow-ids.ts';
import { openPools, type Pools } from '../../src/temporal/temporal-pools.ts';
import * as signals from '../../workflows/signals.ts';
import { until } from '../stage/stage.ts';
import { rigFor, refOf, Script, smallBatch } from './rig.ts';

const ROWS = 3;
const { PENDING_ACTIVITY_STATE_STARTED } = proto.temporal.api.enums.v1.PendingActivityState;
const { WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE } = proto.temporal.api.enums.v1.WorkflowIdReusePolicy;

/** Batches of a pool, whose runs end when the test says so. */
class HeldScript extends Script {
  readonly #held = new Map<string, PromiseWithResolvers<void>>();

  release(batch: string): void {
    this.#of(batch).resolve();
  }

  override end(): void {
    for (const { resolve } of this.#held.values()) resolve();
    super.end();
  }

  #of(batch: string): PromiseWithResolvers<void> {
    const held = this.#held.get(batch) ?? Promise.withResolvers<void>();
    this.#held.set(batch, held);
    return held;
  }

  override work(...args: Parameters<Script['work']>) {
    const work = super.work(...args);
    return {
      ...work,
      loadBatch: async ({ batch }: BatchRef) => ({ params: { ...smallBatch(batch, ROWS), pool: 'shared' } }),
      pollRuns: async (input: BatchRef & { runs: AttemptRun[] }) => {
        await this.#of(input.batch).promise;
        await work.pollRuns(input);
      },
    };
  }
}

const labelOf = ({ metadata }: Payload): string => String(metadata?.['encryption-label'] ?? 'none');
/** Without the call that it belongs to. */
const placeOf = (payload: Payload): string => labelOf(payload).split(' ').slice(0, 3).join(' ');

/** Without its name. */
const kindOf = (payload: Payload): string => {
  const [kind, , direction] = labelOf(payload).split(' ');
  return [kind, direction].join(' ').trim();
};

const KINDS = [
  'activity input',
  'activity result',
  'memo value',
  'none',
  'other',
  'signal input',
  'workflow input',
  'workflow result',
];

function payloadsIn(value: unknown, payloads: Payload[] = []): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return payloads;
  const { encoding } = (value as Payload).metadata ?? {};
  if (encoding != null) payloads.push(value);
  else for (const member of Object.values(value)) payloadsIn(member, payloads);
  return payloads;
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const namesIn = (module: object): readonly string[] =>
  Object.values(module).flatMap((exported) =>
    typeof exported === 'object' && exported !== null && 'name' in exported ? [String(exported.name)] : [],
  );

describe('a payload that is sent again', () => {
  const script = new HeldScript();
  const ref = refOf('victim');
  let pools: Pools;
  const rig = rigFor(script, { isSealed: true }, async ({ client }) => {
    pools = openPools(() => client, undefined, true);
    await pools.set('shared', { size: 2 });
  });

  const service = () => rig.client.workflowService;
  const idOf = (batch: BatchRef) => ({ workflowId: workflowIdOf(batch) });
  const payloadsOf = async (workflowId: string): Promise<readonly Payload[]> =>
    payloadsIn((await rig.client.workflow.getHandle(workflowId).fetchHistory()).events);
  const progressOf = async (batch: BatchRef) => (await rig.batches.status(batch)).progress;
  const polling = async (batch: BatchRef) => {
    const { pendingActivities } = await service().describeWorkflowExecution({
      namespace: 'stage',
      execution: idOf(batch),
    });
    return pendingActivities?.find(
      ({ activityType, state }) =>
        activityType?.name === 'pollRuns' && state === PENDING_ACTIVITY_STATE_STARTED,
    );
  };
  /** Starts a batch, and uses every kind of command. */
  async function started(batch: BatchRef): Promise<void> {
    await rig.batches.start(batch);
    await until(async () => (await polling(batch)) !== undefined, 'its runs are polled', 30_000);
  }
  const signal = (workflowId: string, signalName: string, payloads: readonly Payload[]) =>
    service().signalWorkflowExecution({
      namespace: 'stage',
      workflowExecution: { workflowId },
      signalName,
      input: { payloads: [...payloads] },
      requestId: randomUUID(),
    });

  const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
  const GARBAGE: readonly (readonly Payload[])[] = [
    [],
    [plain({ commandId: 'a stranger' })],
    [plain({ commandId: 'a stranger', running: true })],
    [plain({ commandId: 'a stranger', size: 0 })],
    [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') }],
    [{ metadata: { encoding: Buffer.from('binary/encrypted') }, data: randomBytes(40) }],
    [{ metadata: { encoding: Buffer.from('no/such') } }, {}],
  ];

  it('as any signal of a batch or of its pool is not obeyed, and both work on', async () => {
    await started(ref);
    for (const command of ['pause', 'resume', 'pause'] as const) await rig.batches[command](ref);
    await rig.batches.scale(ref, { retries: 1 });
    const own = [workflowIdOf(ref), signals.poolIdOf('shared')] as const;
    const ownPayloads = (await Promise.all(own.map(payloadsOf))).flat();
    const copies = new Map(ownPayloads.map((payload) => [placeOf(payload), [payload]]));
    expect([...copies.keys()].sort()).toEqual(
      expect.arrayContaining([
        'activity loadBatch result',
        'activity pollRuns input',
        'activity queueRuns result',
        'memo folder value',
        'memo progress value',
        'other',
        'signal pause input',
        'signal resize input',
        'signal usage input',
        'workflow runsheetBatch input',
      ]),
    );
    const before = await progressOf(ref);
    const names = [...namesIn(signals), 'nosuch'];
    expect(names.length).toBe(16);
    for (const workflowId of own)
      for (const name of names)
        await Promise.all(
          [...copies.values(), ...GARBAGE].map((payloads) => signal(workflowId, name, payloads)),
        );

    // Signals come in order, so all of them were read before this command.
    const { progress } = await rig.batches.scale(ref, { retries: 2 });
    const differing = Object.entries(progress).filter(
      ([name, value]) => !isEqual(value, before?.[name as keyof typeof before]),
    );
    expect(differing.map(([name]) => name)).toEqual(['retries', 'acknowledgements']);
    expect(progress.acknowledgements.length).toBe((before?.acknowledgements.length ?? 0) + 1);
    expect(await pools.show('shared')).toMatchObject({ size: 2, batches: 1 });
    expect((await pools.set('shared', { size: 100 })).size).toBe(100);
    await rig.batches.resume(ref);
    script.release(ref.batch);
    expect((await rig.result(ref.batch)).tally.outcomes.succeeded).toBe(ROWS);
  });

  it('as the result of an activity, as its heartbeat, or in its failure is not used, and the batch ends', async () => {
    const ownPayloads = await payloadsOf(workflowIdOf(ref));
    const copies = [...new Map(ownPayloads.map((payload) => [kindOf(payload), payload])).values()];
    expect(copies.map(kindOf).sort()).toEqual(KINDS);
    await Promise.all(
      copies.map(async (copy, at) => {
        const batch = refOf(`copied-${at}`);
        await started(batch);
        const own = (await payloadsOf(workflowIdOf(batch))).find(
          (candidate) => placeOf(candidate) === placeOf(copy),
        );
        const payloads = [own ?? copy];
        const { activityId = '' } = (await polling(batch)) ?? {};
        const call = { namespace: 'stage', ...idOf(batch), activityId };
        await service().recordActivityTaskHeartbeatById({ ...call, details: { payloads } });
        if (at % 2 === 0) await service().respondActivityTaskCompletedById({ ...call, result: { payloads } });
        else
          await service().respondActivityTaskFailedById({
            ...call,
            failure: {
              message: 'x',
              applicationFailureInfo: { type: 'NothingSent', nonRetryable: true, details: { payloads } },
            },
          });
        await until(
          async () => {
            const next = await polling(batch);
            return next !== undefined && next.activityId !== activityId;
          },
          `its runs are polled again after ${placeOf(copy)}`,
          20_000,
        );
        expect(await progressOf(batch)).toMatchObject({ done: 0, state: 'running' });
        script.release(batch.batch);
        expect((await rig.result(batch.batch)).tally.outcomes.succeeded).toBe(ROWS);
      }),
    );
  });

  it('as the input of a workflow starts nothing', async () => {
    const copies = new Map(
      (await payloadsOf(workflowIdOf(ref))).map((payload) => [placeOf(payload), payload]),
    );
    copies.delete('workflow runsheetBatch input');
    const sent = script.groups.get(ref.batch)?.length;
    for (const [place, payload] of copies) {
      await service().startWorkflowExecution({
        namespace: 'stage',
        ...idOf(ref),
        workflowType: { name: 'runsheetBatch' },
        taskQueue: { name: 'runsheet' },
        input: { payloads: [payload] },
        requestId: randomUUID(),
        workflowIdReusePolicy: WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
      });
      const handle = rig.client.workflow.getHandle(workflowIdOf(ref));
      const failed = async () =>
        (await handle.fetchHistory()).events?.find(
          (event) => event.workflowTaskFailedEventAttributes != null,
        );
      await until(async () => (await failed()) !== undefined, `${place} is refused`);
      await handle.terminate();
    }
    expect(script.groups.get(ref.batch)?.length).toBe(sent);
  });
});
