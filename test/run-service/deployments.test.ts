import { describe, expect, it } from 'vitest';
import { RunsheetError } from '../../src/errors/error.ts';
import { DEMO_DEPLOYMENTS, readDeployments, startLocalService } from '../../src/run-service/server.ts';

const thrownBy = (work: () => unknown): RunsheetError => {
  try {
    work();
  } catch (error) {
    if (error instanceof RunsheetError) return error;
    throw error;
  }
  return expect.fail('nothing was thrown');
};

describe('a deployments file', () => {
  it('needs only names, and derives the same id from a name every time', () => {
    const [first, second] = readDeployments('[{"name": "a"}, {"name": "b"}]').simulated;
    expect(first).toMatchObject({ name: 'a', gpu: 'A10G', concurrencyLimit: 2, runTimeoutSeconds: 300 });
    expect(first?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(readDeployments('[{"name": "a"}]').simulated[0]?.id).toBe(first?.id);
    expect(second?.id).not.toBe(first?.id);
  });

  it('has workflows for own GPUs beside simulated deployments', () => {
    const portrait = { name: 'portrait', workflow: 'portrait_api.json', inputs: { prompt: ['6.text'] } };
    const { simulated, workflows } = readDeployments(JSON.stringify([portrait, { name: 'a' }]));
    expect([simulated.map(({ name }) => name), workflows]).toEqual([['a'], [portrait]]);
  });

  it('has models of vendors, named as on the command line, with the price before the name', () => {
    const models = [
      { name: 'flux', model: 'replicate:black-forest-labs/flux-schnell', keyFile: 'key.txt' },
      { name: 'dev', model: '0.025/run=fal:fal-ai/flux/dev', inputs: 'dev.json', runTimeoutSeconds: 60 },
    ];
    const read = readDeployments(JSON.stringify([...models, { name: 'a' }]));
    expect(read.simulated.map(({ name }) => name)).toEqual(['a']);
    expect(read.models).toEqual([
      { ...models[0], vendor: 'replicate', model: 'black-forest-labs/flux-schnell' },
      { ...models[1], vendor: 'fal', model: 'fal-ai/flux/dev', price: { per: 'run', usd: 0.025 } },
    ]);
  });

  it.each([
    [
      'Replicat:owner/name',
      'entry 2 model Replicat:owner/name names no vendor',
      '"model": "replicate:owner/name"',
    ],
    ['owner/name', 'entry 2 model owner/name names no vendor', ': "model": "replicate:owner/name"'],
    ['0/run=fal:a/b', 'entry 2 model: "0/run" is no price', '0.025/run=fal:fal-ai/flux/dev'],
    ['0.1=fal:a/b', 'entry 2 model: "0.1" is no price', '0.025/run='],
  ])('the model %s is refused with its place and what is right', (model, message, hint) => {
    const error = thrownBy(() => readDeployments(JSON.stringify([{ name: 'a' }, { name: 'b', model }])));
    expect([error.code, error.message]).toEqual(['E602', expect.stringContaining(message)]);
    expect(error.hint).toContain(hint);
  });

  it.each([
    ['[{"name": "a", "model": "fal:a/b", "keyfile": "k"}]', '"keyfile" (did you mean keyFile?)'],
    ['[{"name": "a", "model": "fal:a/b", "key": "k-1"}]', 'entry 1: Unrecognized key: "key"'],
    ['[{"name": "a", "modell": "fal:a/b"}]', '"modell" (did you mean model?)'],
    ['[{"name": "a", "model": 7}]', 'entry 1 model: Invalid input: expected string'],
    [
      '[{"name": "a", "model": "fal:a/b"}, {"name": "b", "model": "1/s=fal:a/b"}]',
      'a and b are the same model',
    ],
    [
      '[{"name": "a", "model": "fal:a/b"}, {"name": "a", "model": "fal:a/c"}]',
      'two deployments have the name',
    ],
    ['nonsense', 'not JSON'],
    ['{}', 'expected array'],
    ['[]', 'Too small'],
    ['[{"name": "a"}, {"gpu": "T4"}]', 'entry 2 name'],
    ['[{"name": "a", "gpu": "RTX"}]', 'entry 1 gpu'],
    ['[{"name": "a", "runSeconds": {"T4": 3}}]', 'entry 1 runSeconds'],
    ['[{"name": "a", "concurrency": 3}]', '"concurrency"'],
    ['[{"name": "a", "workflow": "a.json", "gpu": "T4"}]', 'entry 1: Unrecognized key: "gpu"'],
    ['[{"name": "a", "workflow": "a.json"}, {"name": "a"}]', 'two deployments have the name "a"'],
    ['[{"name": "a"}, {"name": "a"}]', 'two deployments have the name "a"'],
  ])('%s is refused with the name of the field', (text, words) => {
    const error = thrownBy(() => readDeployments(text));
    expect(error.code).toBe('E602');
    expect(error.message).toContain(words);
  });
});

describe('the demo deployments', () => {
  it('are portraits, which describes its inputs, and anything, which accepts all inputs', () => {
    const [portraits, anything] = DEMO_DEPLOYMENTS;
    expect(portraits).toMatchObject({ name: 'portraits', concurrencyLimit: 4, coldStartSeconds: 5 });
    expect(portraits?.inputTypes?.filter((input) => input.required).map((input) => input.name)).toEqual([
      'prompt',
    ]);
    expect(anything).toMatchObject({ name: 'anything' });
    expect(anything?.inputTypes).toBeUndefined();
  });
});

describe('invalid options', () => {
  const options = {
    port: 0,
    tokens: [],
    speed: 1,
    database: ':memory:',
    deployments: DEMO_DEPLOYMENTS,
    faults: {},
    seed: 1,
  };

  it('suggest the nearest fault', async () => {
    const start = startLocalService({ ...options, faults: { 'drop-anser': 0.1 } });
    await expect(start).rejects.toMatchObject({
      code: 'E602',
      message: 'there is no fault "drop-anser"',
      hint: expect.stringMatching(/^did you mean drop-answer\? faults: busy .*<response>-answer/),
    });
  });

  it.each([
    ['a rate above 1', { faults: { fail: 2 } }, 'the rate of the fault "fail" is 2'],
    ['no speed', { speed: 0 }, 'speed'],
    ['a missing folder', { database: '/nowhere/at/all.db' }, '/nowhere/at/all.db'],
    ['a duplicate name', { deployments: [...DEMO_DEPLOYMENTS, ...DEMO_DEPLOYMENTS] }, 'two deployments'],
  ])('are refused with a coded error: %s', async (_name, wrong, words) => {
    const start = startLocalService({ ...options, ...wrong });
    await expect(start).rejects.toMatchObject({ code: 'E602', message: expect.stringContaining(words) });
  });

  it('report that the port is in use', async () => {
    const first = await startLocalService(options);
    const port = Number(new URL(first.url).port);
    const second = startLocalService({ ...options, port });
    await expect(second).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('EADDRINUSE'),
    });
    await first.close();
  });
});
