import { beforeAll, describe, expect, it } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 6, runSeconds: 0.3, runSpread: 0 });

describe('a batch on a task queue of its own', () => {
  const stage = sharedStage();

  beforeAll(async () => {
    await stage.cluster(DEPLOYMENTS);
    // The service refuses it, so a request of this worker would pause the batch.
    await stage.worker({ RUNSHEET_API_KEY: 'not-for-this-machine' });
    stage.environment = { ...stage.environment, RUNSHEET_TASK_QUEUE: 'eu' };
  });

  const statusOf = async (batch: string): Promise<BatchJson> =>
    JSON.parse((await stage.run(['status', batch, '-o', 'json'])).stdout) as BatchJson;

  it('waits for a worker of this queue; others send nothing of it, not even in a later pass', async () => {
    const submitted = await stage.run(['submit', stage.sheet(12, '12.csv'), '-d', 'portraits']);
    const batch = submitted.stdout.trim();
    await until(async () => (await statusOf(batch)).unattended, 'no worker takes it');
    const { stdout } = await stage.run(['status', batch]);
    expect(stdout).toContain("no worker takes this batch's tasks");
    expect(await stage.truth()).toEqual([]);

    await stage.worker();
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expect(await stage.truth()).toHaveLength(12);
    const again = ['retry', batch, '--row', '3', '--outcome', 'succeeded', '--yes'];
    expect((await stage.run(again)).code).toBe(0);
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expect(await stage.truth()).toHaveLength(13);
    expect(await statusOf(batch)).toMatchObject({ state: 'finished', outcomes: { succeeded: 12 } });
  });

  it('is made and sent by its workers also when a schedule fires', async () => {
    const at = ['-d', 'portraits', '--cron', '0 2 * * *', '--tz', 'UTC'];
    const created = await stage.run(['schedule', 'create', 'nightly', stage.sheet(4, '4.csv'), ...at]);
    expect([created.code, created.stderr]).toEqual([0, expect.any(String)]);
    const fired = await stage.run(['schedule', 'trigger', 'nightly']);
    expect([fired.code, fired.stderr]).toEqual([0, expect.any(String)]);
    await until(async () => (await stage.truth()).length === 17, 'its rows are sent');
  });
});
