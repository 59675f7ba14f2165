// The run service in front of each vendor's stand-in: what was bought when answers are lost, the service
// restarts, or the vendor refuses. Purchases are counted by the stand-in.

import { beforeAll, describe, expect, it } from 'vitest';
import type { ModelHost } from '../../src/options/facts/server-kind.ts';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { isDoubtful, OwnService, type Run } from '../comfy/own-service.ts';
import { until } from '../stage/stage.ts';
import { COG } from '../../src/run-service/executors/vendors/cog.ts';
import { openCog } from './cog.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import { openRunpod } from './runpod.ts';
import type { LostAnswer, VendorStandIn } from './vendor-stand-in.ts';

type VendorCase = {
  readonly vendor: ModelHost;
  readonly open: () => Promise<VendorStandIn>;
  /** The status of a run whose answer was lost, and how often it was bought. */
  readonly lost: Readonly<Record<'taken' | 'never', 'success' | 'unknown'>>;
  /** A run whose answer was lost, or whose connection broke, is executed again. */
  readonly isRepeated?: true;
  /** The vendor does not describe the inputs of the model. */
  readonly describesNothing?: true;
};

const CASES: readonly VendorCase[] = [
  { vendor: 'replicate', open: openReplicate, lost: { taken: 'success', never: 'success' } },
  { vendor: 'router', open: openRouter, lost: { taken: 'success', never: 'success' } },
  {
    vendor: 'runpod',
    open: openRunpod,
    lost: { taken: 'unknown', never: 'unknown' },
    describesNothing: true,
  },
  { vendor: 'fal', open: openFal, lost: { taken: 'unknown', never: 'unknown' } },
  { vendor: 'cog', open: openCog, lost: { taken: 'success', never: 'success' }, isRepeated: true },
];
const LOSSES: readonly LostAnswer[] = ['closed', '502', 'timeout'];

const TIMING = { pollOnlyMs: 20, lateMs: 60, settledMs: 60, moveAfterMs: 400, blockedMs: 50 };

beforeAll(() => {
  Object.assign(SUBMIT, { waitMs: 2_000, slackMs: 0, queueMs: 300 });
  Object.assign(COG, { idleMs: 500 });
});

/** A service in front of the stand-in, and the deployment of its model. */
async function driven({ vendor, open }: Pick<VendorCase, 'vendor' | 'open'>) {
  const standIn = await open();
  const own = await OwnService.of([], undefined, TIMING);
  const account = { url: standIn.url, kind: vendor, key: standIn.key };
  const add = (): Promise<string> =>
    own.addAny({ servers: [account], models: [{ vendor, model: standIn.model, name: 'painter' }] });
  await add();
  const restart = async (): Promise<void> => {
    await own.close();
    await own.open();
    // The key came from an environment, so it is account again.
    await add();
  };
  return { standIn, own, restart };
}

const outcomeOf = (run: Run): string => (isDoubtful(run) ? 'unknown' : run.status);
const isOver = (run: Run): boolean => run.ended_at !== null || isDoubtful(run);

/** A run whose end is unknown has to wait for its time limit first. */
const limitOf = (end: 'success' | 'unknown') => (end === 'unknown' ? { run_timeout: 1 } : {});

describe.each(CASES)('$vendor', ({ vendor, open, lost, isRepeated = false, describesNothing }) => {
  it('runs a model once for each run, with its inputs, and keeps its file', async () => {
    const { standIn, own } = await driven({ vendor, open });
    const ids = await Promise.all([1, 2, 3].map((seed) => own.queue({ prompt: `fox ${seed}`, seed })));
    const runs = await Promise.all(ids.map((id) => own.until(id)));
    expect(runs.map(outcomeOf)).toEqual(['success', 'success', 'success']);
    expect(standIn.posts()).toBe(3);
    expect(standIn.executions().map(({ input }) => input['prompt'])).toEqual(
      expect.arrayContaining(['fox 1', 'fox 2', 'fox 3']),
    );
    const urls = runs.flatMap(({ outputs }) => outputs.flatMap(({ data }) => Object.values(data).flat()));
    expect(urls).toHaveLength(3);
    const file = await fetch(urls[0]?.url ?? '', { headers: { authorization: 'Bearer key' } });
    expect(
      Buffer.from(await file.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it.skipIf(describesNothing)(
    'describes the inputs of the model, and refuses a value out of bounds before it is sent',
    async () => {
      const { standIn, own } = await driven({ vendor, open });
      const { json } = await own.ask('POST', '/run/deployment/queue', {
        deployment_id: own.deployment,
        inputs: { prompt: 'fox', steps: 99 },
      });
      expect(JSON.stringify(json)).toContain('steps');
      expect(JSON.stringify(json)).toContain('from 1 to 50');
      expect(standIn.posts()).toBe(0);
    },
  );

  it.each(LOSSES)('buys once a run that was taken before its answer was lost (%s)', async (loss) => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.lose(loss, 1, 'after');
    const run = await own.until(await own.queue({ prompt: 'fox', seed: 7 }, limitOf(lost.taken)), isOver);
    expect(outcomeOf(run)).toBe(lost.taken);
    expect(standIn.executions()).toHaveLength(isRepeated ? 2 : 1);
    // A repetition buys nothing where a key replays the answer.
    expect(standIn.posts()).toBeLessThanOrEqual(lost.taken === 'unknown' ? 1 : 2);
  });

  it.each(LOSSES)('buys at most once a run whose request was never taken (%s)', async (loss) => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.lose(loss, 1, 'before');
    const run = await own.until(await own.queue({ prompt: 'fox', seed: 7 }, limitOf(lost.never)), isOver);
    expect(outcomeOf(run)).toBe(lost.never);
    const isSent = lost.never === 'success';
    expect([standIn.posts(), standIn.executions().length]).toEqual(isSent ? [2, 1] : [1, 0]);
  });

  it.skipIf(isRepeated)('buys nothing again after restarts of the service while a run executes', async () => {
    const { standIn, own, restart } = await driven({ vendor, open });
    standIn.setDuration(1_500);
    const id = await own.queue({ prompt: 'fox', seed: 7 });
    await until(() => standIn.executions().length === 1, 'it executes');
    for (let restarts = 0; restarts < 3; restarts += 1) await restart();
    expect(outcomeOf(await own.until(id))).toBe('success');
    expect([standIn.posts(), standIn.executions().length]).toEqual([1, 1]);
  });

  it('buys nothing again if the service stops before the answer comes', async () => {
    const { standIn, own, restart } = await driven({ vendor, open });
    standIn.lose('timeout', 1, 'after');
    const id = await own.queue({ prompt: 'fox', seed: 7 }, limitOf(lost.taken));
    await until(() => standIn.posts() === 1, 'it is sent');
    await restart();
    expect(outcomeOf(await own.until(id, isOver))).toBe(lost.taken);
    expect(standIn.executions()).toHaveLength(isRepeated ? 2 : 1);
  });

  it('fails a run with the reason of the vendor', async () => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.failNext(1, 'CUDA out of memory');
    const id = await own.queue({ prompt: 'fox', seed: 7 });
    expect(outcomeOf(await own.until(id))).toBe('failed');
    expect(await own.log(id)).toContain('CUDA out of memory');
  });

  it('fails a run that the vendor refuses, with the name of the wrong input', async () => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.refuseNext(1);
    const id = await own.queue({ prompt: 'fox', seed: 7 });
    expect(outcomeOf(await own.until(id))).toBe('failed');
    expect(await own.log(id)).toContain('prompt: The input is not allowed.');
    expect([standIn.posts(), standIn.executions().length]).toEqual([1, 0]);
  });

  it('cancels a run at the vendor', async () => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.setDuration(60_000);
    const id = await own.queue({ prompt: 'fox', seed: 7 });
    await until(() => standIn.executions().length === 1, 'it executes');
    await until(async () => (await own.run(id)).status === 'running', 'it is seen to execute');
    await own.ask('POST', `/run/${id}/cancel`);
    await until(() => standIn.executions()[0]?.state === 'cancelled', 'it is cancelled there');
    expect(standIn.posts()).toBe(1);
  });

  it('cancels a run at the vendor when it reaches its time limit here', async () => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.setDuration(60_000);
    const id = await own.queue({ prompt: 'fox', seed: 7 }, { run_timeout: 1 });
    await until(() => standIn.executions()[0]?.state === 'cancelled', 'it is cancelled there');
    expect((await own.run(id)).status).toBe('timeout');
  });

  it('waits for a vendor that takes no more runs, and loses none', async () => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.setLimit(0);
    const id = await own.queue({ prompt: 'fox', seed: 7 });
    await until(() => standIn.posts() >= 1, 'it is refused');
    standIn.setLimit(undefined);
    expect(outcomeOf(await own.until(id))).toBe('success');
    expect(standIn.executions()).toHaveLength(1);
  });

  it.skipIf(isRepeated)('refuses further runs with the reason while the account has no credits', async () => {
    const { standIn, own } = await driven({ vendor, open });
    standIn.setCredits(false);
    await own.queue({ prompt: 'fox', seed: 1 });
    await until(() => standIn.posts() >= 1, 'it is refused');
    await until(async () => {
      const { status } = await own.ask('POST', '/run/deployment/queue', {
        deployment_id: own.deployment,
        inputs: { prompt: 'fox', seed: 2 },
      });
      return status === 403;
    }, 'the next one is refused');
    expect(standIn.executions()).toHaveLength(0);
  });
});
