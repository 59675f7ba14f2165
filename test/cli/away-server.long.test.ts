// A GPU server of the user's own that is gone while a batch runs on it.

import { expect, it } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import { openStandIn, portrait } from '../comfy/own-service.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { until } from '../stage/stage.ts';

const stage = freshStage();

it('the server is named by status with its reason until it answers again, and the batch ends', async () => {
  const gpu = await openStandIn();
  const home = { RUNSHEET_HOME: stage.path('home') };
  const workflow = stage.write('portrait_api.json', JSON.stringify(portrait({ seconds: 1 })));
  const rows = Array.from({ length: 12 }, (_, at) => `a fox,${at}`);
  const sheet = stage.write('sheet.csv', `prompt,seed\n${rows.join('\n')}\n`);
  const running = stage.start(['run', sheet, '--workflow', workflow, '--comfyui', gpu.url], home);
  await running.says(/progress state=running/);
  const away = async () =>
    (JSON.parse((await stage.run(['status', '-o', 'json'], home)).stdout) as BatchJson).away_servers;
  expect(await away()).toEqual([]);
  await gpu.kill();
  await until(async () => (await away()).length > 0, 'status names the server');
  expect(await away()).toEqual([{ url: gpu.url, reason: expect.stringContaining('ECONNREFUSED') }]);
  expect((await stage.run(['status'], home)).stdout).toMatch(
    /^ {2}waits {5}http:\S+ takes no runs: .*ECONNREFUSED.*; the batch goes on when it answers$/m,
  );
  await gpu.start();
  expect((await running.ended).code).toBe(0);
  expect(await away()).toEqual([]);
});
