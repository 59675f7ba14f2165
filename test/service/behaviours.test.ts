import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';

const QUEUE = '/api/run/deployment/queue';
const vendor = { behaviour: 'vendor' } as const;

describe('where the specification and the real service differ', () => {
  it('a run gets the requested gpu in the specification, and that of its deployment in the real service', async () => {
    const spec = { gpu: 'L4' };
    const [one, other] = [await openService(spec), await openService(spec, vendor)];
    expect((await one.wire(await one.queue({ gpu: 'H100' })))['gpu']).toBe('H100');
    expect((await other.wire(await other.queue({ gpu: 'H100' })))['gpu']).toBe('L4');
  });

  it.each(['CPU', 'H200', 'B200'])('only the real service accepts the gpu %s', async (gpu) => {
    const [one, other] = [await openService(), await openService({}, vendor)];
    const body = (deploymentId: string) => JSON.stringify({ deployment_id: deploymentId, gpu });
    expect((await one.ask('POST', QUEUE, { body: body(one.deploymentId) })).status).toBe(422);
    expect((await other.ask('POST', QUEUE, { body: body(other.deploymentId) })).status).toBe(200);
  });

  it('inputs are free-form in the specification; the real service refuses null and objects with five entries each', async () => {
    const inputs = { a: null, b: { c: 1 }, seed: 1, list: [{ d: 2 }] };
    const [one, other] = [await openService(), await openService({}, vendor)];
    expect((await one.wire(await one.queue({ inputs })))['workflow_inputs']).toEqual(inputs);
    const body = JSON.stringify({ deployment_id: other.deploymentId, inputs });
    const answer = await other.ask('POST', QUEUE, { body });
    expect(answer.status).toBe(422);
    const detail = answer.json['detail'] as { loc: string[]; type: string }[];
    expect(detail.map(({ loc }) => loc[2])).toEqual('aaaaabbbbb'.split(''));
    expect(detail.slice(0, 5).map(({ type }) => type)).toEqual([
      'string_type',
      'int_type',
      'float_type',
      'bool_type',
      'list_type',
    ]);
  });

  it('a 64-bit seed is a number in both', async () => {
    const { ask, deploymentId } = await openService({}, vendor);
    const body = `{"deployment_id":"${deploymentId}","inputs":{"seed":18446744073709551615}}`;
    expect((await ask('POST', QUEUE, { body })).status).toBe(200);
  });

  it('only one shows the workflow; both show the call id under both names', async () => {
    for (const [opened, shows] of [
      [await openService(), true],
      [await openService({}, vendor), false],
    ] as const) {
      const id = await opened.queue();
      await opened.ended(id);
      const run = await opened.wire(id);
      expect('workflow_api' in run).toBe(shows);
      expect(run['modal_function_call_id']).toBe(run['worker_function_call_id']);
      expect(run['modal_function_call_id']).toMatch(/^fc-/);
    }
  });
});
