// A batch that came with a clone says that it is the batch of a sheet, but has the rows that its maker chose.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { begin } from '../../src/library/start/start-batch.ts';
import { heldElsewhere, whoHas } from '../../src/library/start/who-has.ts';
import type { Servers } from '../../src/library/servers.ts';
import { createStarted } from '../../src/store/started.ts';
import { Console } from '../console/console.ts';

/** In `batches` of the current folder; Temporal knows no batch. */
async function scene({ isPaid = true, base = 'local' } = {}) {
  const console = await Console.open();
  const before = process.cwd();
  process.chdir(console.folder);
  onTestFinished(() => process.chdir(before));
  const made = await console.batch(console.write('sheet.csv', 'prompt\na fox\n'), 'one');
  const service = { ...made.file.service, base, rehearsal: !isPaid };
  const batchFolder = { ...made, file: { ...made.file, service }, laidOut: undefined };
  const start = vi.fn<() => Promise<string>>(async () => 'started');
  const batches = { find: async () => undefined, start };
  const starting = async () => {
    const session = { batches, isWorking: () => true };
    const ready = { check: async () => undefined, refuseElsewhere: async () => undefined };
    const servers = { ...ready, config: loadConfig(), for: async () => session };
    await begin(servers as unknown as Servers, batchFolder, {});
    return start.mock.calls.length;
  };
  return { console, found: batchFolder, starting, start };
}

const OF_THE_FOLDER = {
  kind: 'cluster',
  address: 'temporal.example:7233',
  host: 'far',
  pid: 1,
  version: '0.1.0',
} as const;
const OWN = { ...OF_THE_FOLDER, address: 'mine.example:7233' };

const FOREIGN = expect.objectContaining({
  code: 'E606',
  message: expect.stringContaining('did not make this batch'),
  hint: expect.stringMatching(/--again.*runsheet trust \S+batches\/one$/),
});

it('a batch that came with a folder is not started for the sheet that it names, until its user trusts it', async () => {
  const { console, starting, start } = await scene();
  vi.stubEnv('RUNSHEET_OUT', undefined);
  await expect(starting()).rejects.toEqual(FOREIGN);
  expect(start).not.toHaveBeenCalled();
  expect(await console.run('trust', join('batches', 'one'))).toMatchObject({
    stdout: expect.stringContaining('its 1 row'),
  });
  expect(await starting()).toBe(1);
});

it('a batch is started where a setting names the folder of the batches', async () => {
  expect(await (await scene()).starting()).toBe(1);
});

it('a rehearsal, which costs nothing, is started', async () => {
  const { starting } = await scene({ isPaid: false });
  vi.stubEnv('RUNSHEET_OUT', undefined);
  expect(await starting()).toBe(1);
});

it('a batch that calls a service of another machine a rehearsal is not started', async () => {
  const { starting, start } = await scene({ isPaid: false, base: 'https://gpu.example/api' });
  vi.stubEnv('RUNSHEET_OUT', undefined);
  await expect(starting()).rejects.toEqual(FOREIGN);
  expect(start).not.toHaveBeenCalled();
});

it('a batch that this user has made is started, also in a folder that has moved', async () => {
  const { rememberPlace } = await import('../../src/batches/known-places.ts');
  const { found: batchFolder, starting } = await scene();
  vi.stubEnv('RUNSHEET_OUT', undefined);
  const { places } = loadConfig();
  rememberPlace(places, { out: '/elsewhere/batches', file: batchFolder.file });
  expect(await starting()).toBe(1);
  rmSync(places, { recursive: true });
  await expect(starting()).rejects.toEqual(FOREIGN);
});

it('a batch that came with a folder sends no command to the cluster that it names, until its user trusts it', async () => {
  const { console, found: batchFolder } = await scene();
  vi.stubEnv('RUNSHEET_OUT', undefined);
  const workflow = { workflowId: 'w', runId: 'r' };
  await createStarted(batchFolder.store, { at: '2026-11-22T10:00:00Z', workflow, holder: OF_THE_FOLDER });
  const said = async () => {
    const has = await whoHas(batchFolder, { config: loadConfig(), holder: OWN });
    if (has.by !== 'others') throw new Error(has.by);
    return heldElsewhere(batchFolder, has.others, OWN);
  };
  expect(await said()).toMatchObject({
    code: 'E548',
    hint: expect.stringMatching(/^give the command there/),
  });
  await console.run('trust', join('batches', 'one'));
  expect(await said()).toMatchObject({
    code: 'E548',
    hint: expect.stringContaining('TEMPORAL_ADDRESS=temporal.example:7233'),
  });
});
