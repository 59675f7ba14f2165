// A key that the run service revokes in the middle of a batch, on embedded servers.

import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';

const stage = freshStage();
const REVOKED = 'revoked-key-0123456789';

it('its reason is shown after the servers have ended, refuses a resume at once, and is resumed once when it is gone', async () => {
  const deployments = stage.write(
    'deployments.json',
    deploymentsOf({ concurrencyLimit: 2, runSeconds: 0.5 }),
  );
  const start = (keys: readonly string[], port = 0) =>
    stage.service(['--deployments', deployments], port, keys);
  const service = await start([REVOKED]);
  const port = Number(new URL(service.base).port);
  const key = { RUNSHEET_API_KEY: REVOKED };
  const run = stage.start(['run', stage.sheet(40), '-d', 'portraits', '-c', '2'], key);
  await run.says(/progress state=running done=[1-9]/);
  await service.kill();
  const server = await start([], port);
  const { code, stderr } = await run.ended;
  expect([code, stderr]).toEqual([8, expect.stringMatching(/error\[E501\]: batch \S+ is paused: .*401/)]);
  const batch = basename(stage.batch());

  const status = await stage.run(['status', batch], key);
  expect(status.stdout).toMatch(/^\S+ {2}interrupted; was paused: .*401/);
  expect(status.stderr).toContain(`runsheet resume ${batch}`);
  const { was_paused: pauses } = JSON.parse((await stage.run(['status', batch, '-o', 'json'], key)).stdout);
  expect(pauses).toMatchObject([{ reason: expect.stringContaining('401') }]);

  const began = performance.now();
  const refused = await stage.run(['resume', batch], key);
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('error[E301]')]);
  expect(performance.now() - began).toBeLessThan(15_000);

  await server.kill();
  await start([REVOKED], port);
  const resumed = await stage.run(['resume', batch], key);
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('40 of 40 rows succeeded')]);
  const { stdout: events } = await stage.run(['events', batch], key);
  expect(events.match(/resumed/g)).toHaveLength(1);
});
