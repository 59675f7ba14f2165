// Models of vendors in the deployments file of a service: named once, run by everybody, with the key of the service.

import { afterEach, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { openReplicate } from './replicate.ts';
import { openRunpod } from './runpod.ts';

const stage = new Stage();
afterEach(() => stage.close());

it('a client runs a model of the service by its name, with the price of the file and without a key of its own', async () => {
  const [replicate, runpod] = [await openReplicate(), await openRunpod()];
  stage.write('tools/key.txt', `${replicate.key}\n`);
  stage.write('tools/worker.json', '{"type":"object","properties":{"prompt":{"type":"string"}}}');
  const file = stage.write(
    'tools/deployments.json',
    JSON.stringify([
      { name: 'flux', model: `0.25/run=replicate:${replicate.model}`, keyFile: 'key.txt' },
      { name: 'worker', model: `runpod:${runpod.model}`, inputs: 'worker.json', runTimeoutSeconds: 60 },
    ]),
  );
  stage.environment = {
    RUNSHEET_HOME: stage.path('home'),
    RUNSHEET_REPLICATE_URL: replicate.url,
    RUNSHEET_RUNPOD_URL: runpod.url,
    RUNPOD_API_KEY: runpod.key,
  };
  const service = await stage.service(['--deployments', file]);
  const { RUNPOD_API_KEY: _, ...environment } = stage.environment;
  stage.environment = environment;
  const sheet = stage.write('sheet.csv', 'prompt\na fox\na cat\na dog\n');
  const shown = await stage.run(['deployments', 'worker']);
  expect(shown.stdout).toMatch(/1 min[^]*prompt/);
  const capped = await stage.run(['run', sheet, '-d', 'flux', '--max-cost', '0.60']);
  expect([capped.code, capped.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('the $0.75 that'),
  ]);
  const paid = await stage.run(['run', sheet, '-d', 'flux', '--max-cost', '0.75', '--name', 'first']);
  expect([paid.code, paid.stderr]).toEqual([0, expect.stringContaining('3 of 3 rows')]);
  expect(replicate.executions()).toHaveLength(3);
  const free = await stage.run(['run', sheet, '-d', 'worker', '--name', 'second']);
  expect([free.code, free.stderr]).toEqual([0, expect.stringContaining('3 of 3 rows')]);
  expect(runpod.executions()).toHaveLength(3);
  const wrong = await stage.run(['plan', stage.write('wrong.csv', 'promt\na fox\n'), '-d', 'worker']);
  expect(wrong.stdout + wrong.stderr).toContain('prompt');
  await service.kill();
  // A vendor that does not answer must not keep the service and its other models from starting.
  replicate.close();
  stage.environment = { ...environment, RUNPOD_API_KEY: runpod.key };
  const later = await stage.service(['--deployments', file]);
  expect((await stage.run(['deployments'])).stdout).toMatch(/flux[^]*worker|worker[^]*flux/);
  await later.kill();
  runpod.close();
});

it.each([
  [
    [{ name: 'flux', model: 'replicate:owner/name' }],
    'the deployment flux needs your key at replicate',
    'set REPLICATE_API_TOKEN',
  ],
  [
    [
      { name: 'a', model: 'fal:owner/a', keyFile: 'one.txt' },
      { name: 'b', model: 'fal:owner/b', keyFile: 'two.txt' },
    ],
    'the deployment b has a different keyFile',
    'name one file',
  ],
  [[{ name: 'a', model: 'fal:owner/a', keyFile: 'none.txt' }], 'none.txt', 'the key'],
  [[{ name: 'a', model: 'fal:owner/a', keyFile: 'words.txt' }], 'something else than a key', 'the key'],
  [
    [{ name: 'a', model: 'fal:owner/a', keyFile: 'key.txt', inputs: 'none.json' }],
    'none.json cannot be read as a JSON Schema',
    'properties',
  ],
])('a service does not start with %j, and says why', async (entries, message, hint) => {
  stage.write('key.txt', 'some-key\n');
  stage.write('words.txt', 'FAL_KEY = some-key\n');
  const file = stage.write('deployments.json', JSON.stringify(entries));
  stage.environment = { RUNSHEET_HOME: stage.path('home'), RUNSHEET_FAL_URL: 'http://127.0.0.1:1' };
  const { code, stderr } = await stage.run(['service', '--port', '0', '--deployments', file]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});
