// Notifications by a program, on a cluster whose workers decide which programs they start.

import { chmodSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { connect } from '../../src/index.ts';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until, type Ended } from '../stage/stage.ts';

const stage = freshStage();

const program = (): string => {
  const path = stage.write('tell.sh', '#!/bin/sh\nexec cat > told.json\n');
  chmodSync(path, 0o755);
  return path;
};

const JOB = (path: string): string => `
deployment = "portraits"
notify = ["exec:${path}"]

[[stage]]
name = "drafts"
from = "sheet.csv"

[[stage]]
name = "finals"
from = "drafts"
set = { prompt = "again" }
`;

it('a program that no worker may start is refused by each door, which says which worker could', async () => {
  await stage.cluster(deploymentsOf({ concurrencyLimit: 2, runSeconds: 0.1 }));
  const path = program();
  const may = { RUNSHEET_NOTIFY_EXEC: path };
  const plain = await stage.worker();
  const sheet = stage.sheet(2);
  const job = stage.write('poster.job.toml', JOB(path));
  const batch = [sheet, '-d', 'portraits', '--notify', `exec:${path}`];
  const refused = ({ code, stderr }: Ended): void => {
    expect([code, stderr]).toEqual([2, expect.stringContaining(`no worker may start ${path}`)]);
    expect(stderr).toContain(`RUNSHEET_NOTIFY_EXEC=${path} runsheet worker`);
  };
  refused(await stage.run(['run', ...batch]));
  refused(await stage.run(['submit', ...batch]));
  refused(await stage.run(['submit', job], may));
  refused(await stage.run(['schedule', 'create', 'nightly', ...batch, '--cron', '0 3 * * *', '--tz', 'UTC']));
  const options = { deployment: 'portraits', notify: [`exec:${path}`] };
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const { RUNSHEET_API_URL: url = '', RUNSHEET_API_KEY: apiKey = '' } = stage.environment;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const place = { store: stage.path('batches'), home: stage.path('home') };
  await using runsheet = await connect({ client, ...place, service: { url, apiKey } });
  await expect(runsheet.start(sheet, options)).rejects.toMatchObject({ code: 'E602' });
  await connection.close();
  expect(await stage.truth()).toEqual([]);

  const { stdout } = await stage.run(['submit', sheet, '-d', 'portraits']);
  refused(await stage.run(['scale', stdout.trim(), '--notify', `exec:${path}`]));

  // Another attempt of the activity reaches the one worker of two that may deliver.
  await stage.worker(may);
  const { code, stderr } = await stage.run(['run', ...batch, '--again']);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('not delivered')]);
  await plain.kill();
});

it('a notification that reaches nobody is shown by run, status and doctor', async () => {
  await stage.cluster(deploymentsOf({ concurrencyLimit: 2, runSeconds: 0.1 }));
  const path = stage.path('gone.sh');
  await stage.worker({ RUNSHEET_NOTIFY_EXEC: path });
  const batch = [stage.sheet(2), '-d', 'portraits', '--name', 'mute', '--notify', `exec:${path}`];
  const { code, stderr } = await stage.run(['run', ...batch]);
  const text = `done to exec:${path}: ${path} cannot be started`;
  expect([code, stderr]).toEqual([0, expect.stringContaining(`not delivered: ${text}`)]);
  expect((await stage.run(['status', 'mute'])).stdout).toContain(`  notices   not delivered: ${text}`);
  const shown = JSON.parse((await stage.run(['status', 'mute', '-o', 'json'])).stdout) as BatchJson;
  expect(shown.undelivered_notices).toEqual([
    {
      at: expect.stringMatching(/^\d{4}-/),
      notice: `done to exec:${path}`,
      reason: expect.stringContaining('cannot be started'),
    },
  ]);
  await until(async () => {
    const doctor = await stage.run(['doctor', '--cluster']);
    return doctor.stdout.includes(`1 notification of the last day reached nobody; the newest: mute: ${text}`);
  }, 'doctor shows it');
});
