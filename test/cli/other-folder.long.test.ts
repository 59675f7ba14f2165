// A worker whose batches are in another folder takes the tasks of a running batch.

import { expect, it } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

const stage = freshStage();
const WITHIN_MS = 60_000;

it('is named with its folder by status within a minute, by follow, and in its log', async () => {
  await stage.cluster(deploymentsOf({ concurrencyLimit: 2, runSeconds: 60 }));
  const right = await stage.worker();
  const batch = await stage.submit(6, 2);
  const statusOf = async (): Promise<BatchJson> =>
    JSON.parse((await stage.runHere(['status', batch, '-o', 'json'])).stdout) as BatchJson;
  await until(async () => (await statusOf()).progress?.running === 2, 'two runs are outstanding');

  await right.kill();
  const wrong = await stage.worker({ RUNSHEET_OUT: stage.path('other') });
  const why = `this worker may not use ${stage.path('batches', batch)}: it is not in ${stage.path('other')}`;
  const following = stage.start(['follow', batch]);
  await until(
    async () => (await statusOf()).trouble?.reason.includes(why) ?? false,
    'status names the folder of the worker',
    WITHIN_MS,
  );
  expect((await statusOf()).trouble?.worker).toMatch(/^\d+@/);
  const { stdout, stderr } = await stage.run(['status', batch]);
  expect(stdout).toMatch(/^ {2}worker {4}\d+@\S+ fails its tasks: this worker may not use /m);
  expect(stderr).toContain('runsheet doctor --cluster');
  // The standstill of `follow`, or the pause that follows it: whichever comes first.
  await following.says(/(?:fails its tasks|runs cannot be read): this worker may not use /);
  // The user needs the folder, not the key.
  const { code, stderr: paused } = await following.ended;
  expect([code, paused]).toEqual([
    8,
    expect.stringContaining('give all workers the RUNSHEET_OUT of this batch'),
  ]);
  expect(paused).not.toContain('RUNSHEET_API_KEY');
  expect(wrong.stderr).toContain('"msg":"this worker cannot work on the batch"');
  expect(wrong.stderr).toContain(why);
  expect(wrong.stderr).not.toContain('{}');
});
