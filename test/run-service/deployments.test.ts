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

  it.each([
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
