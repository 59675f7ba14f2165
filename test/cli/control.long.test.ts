import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { basename, dirname } from 'node:path';
import { openBatchClient } from '../../src/temporal/batch-client.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { liveAt, startedBetween } from '../stage/outstanding-runs.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 3_000;
const DEPLOYMENTS = deploymentsOf({
  name: 'wide',
  concurrencyLimit: 400,
  runSeconds: 6,
  runSpread: 0.3,
});

describe('a batch with 200 runs outstanding', () => {
  const stage = freshStage((newStage) => newStage.cluster(DEPLOYMENTS));

  /** Gives a command; resolves with the time when the batch had acknowledged it. */
  const command = async (...words: readonly string[]): Promise<number> => {
    const { code, stderr } = await stage.run(words);
    expect([words[0], code, code === 0 ? '' : stderr]).toEqual([words[0], 0, '']);
    return Date.now();
  };
  /** Makes the batch continue as new; resolves when it has done so. */
  const refresh = async (batch: string): Promise<void> => {
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const { client } = await connectClient({ address, namespace, from: 'the test', options: {} });
    const { file } = (await openBatchFolder(dirname(stage.batch()), batch)) ?? {};
    const name = { batch, mark: file?.mark ?? '' };
    const runs = async (): Promise<string> =>
      (await client.workflow.getHandle(workflowIdOf(name)).describe()).runId;
    const before = await runs();
    await openBatchClient(() => client).refresh(name);
    expect(await runs()).not.toBe(before);
  };
  const outstanding = async (): Promise<number> => liveAt(await stage.truth(), Date.now());

  it('keeps to each limit from its acknowledgement on, sends nothing while paused, also when its worker is killed and when it continues as new', async () => {
    const worker = await stage.worker();
    expect((await stage.run(['submit', stage.sheet(ROWS), '-d', 'wide', '-c', '200'])).code).toBe(0);
    const batch = basename(stage.batch());
    await until(async () => (await outstanding()) >= 190, '200 runs are outstanding');

    const lowered = await command('scale', batch, '-c', '20');
    expect(await outstanding()).toBeGreaterThan(40);
    await refresh(batch);
    await until(async () => (await outstanding()) < 20, 'fewer than 20 runs are outstanding');
    await worker.kill('SIGKILL');
    await stage.worker();
    await wait(8_000);
    const pausing = Date.now();
    const paused = await command('pause', batch);
    await refresh(batch);
    await wait(10_000);
    const resuming = Date.now();
    await command('resume', batch);
    await wait(8_000);
    const raising = Date.now();
    await command('scale', batch, '-c', '400');
    expect((await stage.run(['wait', batch])).code).toBe(0);

    const runs = await stage.truth();
    expectOneRunPerRow(runs, ROWS);
    const low = startedBetween(runs, lowered, raising);
    expect(low.length).toBeGreaterThan(20);
    for (const { createdAtMs = 0 } of low) expect(liveAt(runs, createdAtMs)).toBeLessThanOrEqual(20);
    expect(startedBetween(runs, paused + 1_000, resuming)).toEqual([]);
    expect(startedBetween(runs, pausing - 8_000, pausing).length).toBeGreaterThan(0);
    expect(
      Math.max(
        ...startedBetween(runs, raising, Date.now()).map(({ createdAtMs = 0 }) => liveAt(runs, createdAtMs)),
      ),
    ).toBeGreaterThan(200);
    const events = (await stage.run(['events', batch, '-o', 'jsonl'])).stdout.trim().split('\n');
    expect(events.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      'created',
      'started',
      'scaled',
      'paused',
      'resumed',
      'scaled',
      'finished',
    ]);
  });
});
