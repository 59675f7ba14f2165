import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';

describe('the base of V1', () => {
  it('queues a run and shows it, with fewer fields than V2', async () => {
    const { ask, deploymentId, ended, wire } = await openService({ runSeconds: 0.1 });
    const body = JSON.stringify({ deployment_id: deploymentId, inputs: { seed: 7 } });
    const queued = await ask('POST', '/v1/api/run', { body });
    expect([queued.status, Object.keys(queued.json)]).toEqual([200, ['run_id']]);
    const id = String(queued.json['run_id']);
    await ended(id);
    const run = (await ask('GET', `/v1/api/run?run_id=${id}`)).json;
    expect(run).toMatchObject({ id, status: 'success', workflow_inputs: { seed: 7 } });
    expect((run['outputs'] as object[]).map((output) => Object.keys(output))).toEqual([['data']]);
    expect(
      Object.keys(await wire(id))
        .filter((name) => !(name in run))
        .sort(),
    ).toEqual([
      'cold_start_duration',
      'cold_start_duration_total',
      'duration',
      'gpu_event_id',
      'number',
      'run_duration',
      'updated_at',
    ]);
  });

  it('answers errors in V1 formats', async () => {
    const { ask, deploymentId } = await openService();
    const gpu = JSON.stringify({ deployment_id: deploymentId, gpu: 'RTX' });
    expect((await ask('POST', '/v1/api/run', { body: gpu })).status).toBe(500);
    const unknown = await ask('GET', '/v1/api/run?run_id=3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f');
    expect([unknown.status, unknown.json['message']]).toEqual([400, 'Workflow not found']);
    const broken = await ask('POST', '/v1/api/run', { body: '{' });
    expect([broken.status, Object.keys(broken.json)]).toEqual([500, ['error']]);
    const stranger = await ask('GET', '/v1/api/run', { headers: { authorization: '' } });
    expect([stranger.status, stranger.headers['content-type'], stranger.text]).toEqual([
      401,
      expect.stringContaining('text/plain'),
      'Invalid or expired token',
    ]);
  });

  it('reads a run by query on the V2 base too', async () => {
    const { ask, queue, wire } = await openService();
    const id = await queue();
    expect((await ask('GET', `/api/run?run_id=${id}`)).json['id']).toBe((await wire(id))['id']);
    const malformed = await ask('GET', '/api/run?run_id=no');
    expect(malformed.status).toBe(422);
    expect(malformed.json['detail']).toMatchObject([{ loc: ['query', 'run_id'], type: 'uuid_parsing' }]);
  });
});
