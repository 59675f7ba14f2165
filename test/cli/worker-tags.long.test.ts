import { beforeAll, describe, expect, it } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 6, runSeconds: 0.3, runSpread: 0 });

describe('a batch for workers with a tag', () => {
  const stage = sharedStage();

  beforeAll(async () => {
    await stage.cluster(DEPLOYMENTS);
    // The service refuses it, so a request of this worker would pause its batch.
    await stage.worker({ RUNSHEET_API_KEY: 'not-for-this-machine', RUNSHEET_WORKER_TAGS: 'us' });
  });

  const submit = async (rows: number, ...flags: readonly string[]): Promise<string> =>
    (
      await stage.run(['submit', stage.sheet(rows, `${rows}.csv`), '-d', 'portraits', ...flags])
    ).stdout.trim();
  const statusOf = async (batch: string): Promise<BatchJson> =>
    JSON.parse((await stage.run(['status', batch, '-o', 'json'])).stdout) as BatchJson;

  it('waits for one, and status says which; others send nothing of it, not even in a later pass', async () => {
    const batch = await submit(12, '--worker-tag', 'eu');
    await until(async () => (await statusOf(batch)).unattended, 'no worker takes it');
    const { stdout } = await stage.run(['status', batch]);
    expect(stdout).toContain("no worker with the tag eu takes this batch's tasks");
    expect(await stage.truth()).toEqual([]);

    await stage.worker({ RUNSHEET_WORKER_TAGS: 'gpu-lab, eu' });
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expect(await stage.truth()).toHaveLength(12);
    const again = ['retry', batch, '--row', '3', '--outcome', 'succeeded', '--yes'];
    expect((await stage.run(again)).code).toBe(0);
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expect(await stage.truth()).toHaveLength(13);
    expect(await statusOf(batch)).toMatchObject({ state: 'finished', outcomes: { succeeded: 12 } });
  });

  it('is made and sent by them also when a schedule fires', async () => {
    const create = [
      'schedule',
      'create',
      'nightly',
      stage.sheet(4, '4.csv'),
      '-d',
      'portraits',
      '--cron',
      '0 2 * * *',
    ];
    const created = await stage.run([...create, '--tz', 'UTC', '--worker-tag', 'eu']);
    expect([created.code, created.stderr]).toEqual([0, expect.any(String)]);
    const fired = await stage.run(['schedule', 'trigger', 'nightly']);
    expect([fired.code, fired.stderr]).toEqual([0, expect.any(String)]);
    await until(async () => (await stage.truth()).length === 17, 'its rows are sent');
  });

  it('keeps its tag: another one in the same command is named as ignored', async () => {
    const sheet = stage.sheet(12, '12.csv');
    const { code, stderr } = await stage.run(['submit', sheet, '-d', 'portraits', '--worker-tag', 'us']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('--worker-tag (it has eu)')]);
  });

  it.each(['EU', 'a@b', 'eu-', ''])('is refused with the tag %j', async (tag) => {
    const { code, stderr } = await stage.run([
      'submit',
      stage.sheet(2),
      '-d',
      'portraits',
      '--worker-tag',
      tag,
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--worker-tag')]);
  });
});
