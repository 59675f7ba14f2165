import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';
import { openReceiver } from './receiver.ts';

describe('Get Run with faults', () => {
  it.each([
    ['other-run', (wire: object, id: string) => expect(wire).not.toMatchObject({ id })],
    ['unknown-status', (wire: object) => expect(wire).toMatchObject({ status: 'defragmenting' })],
    [
      'backwards',
      (wire: object) => expect(wire).toMatchObject({ status: 'running', ended_at: null, outputs: [] }),
    ],
    ['extra-fields', (wire: object) => expect(wire).toHaveProperty('gpu_mood')],
    [
      'cut-dates',
      (wire: object) =>
        expect(wire).toMatchObject({
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/) as string,
        }),
    ],
  ])('%s', async (fault, holds) => {
    const { queue, ended, wire, ask } = await openService();
    const id = await queue();
    await ended(id);
    await ask('PUT', '/control/faults', { body: JSON.stringify({ [fault]: 1 }) });
    holds(await wire(id), id);
    await ask('PUT', '/control/faults', { body: JSON.stringify({ [fault]: 0 }) });
    expect(await wire(id)).toMatchObject({ id, status: 'success' });
  });

  it('answers 404 for a run that it has shown before', async () => {
    const { queue, ended, ask } = await openService();
    const id = await queue();
    await ended(id);
    await ask('PUT', '/control/faults', { body: '{"vanish": 1}' });
    expect(await ask('GET', `/api/run/${id}`)).toMatchObject({
      status: 404,
      json: { detail: 'Run not found' },
    });
  });
});

describe('Queue Run with faults', () => {
  it.each([
    ['busy', 429, /^1$/],
    ['busy-silent', 429, /^undefined$/],
    ['busy-date', 429, /GMT$/],
    ['busy-absurd', 429, /^99999999$/],
    ['no-credits', 403, /^undefined$/],
  ])('%s answers %i, and creates nothing', async (fault, status, retryAfter) => {
    const { ask, deploymentId } = await openService({}, { faults: { [fault]: 1 } });
    const body = JSON.stringify({ deployment_id: deploymentId });
    const answer = await ask('POST', '/api/run/deployment/queue', { body });
    expect(answer.status).toBe(status);
    expect(String(answer.headers['retry-after'])).toMatch(retryAfter);
    expect((await ask('GET', `/api/deployment/${deploymentId}/runs`)).json['data']).toEqual([]);
  });
});

describe('webhooks with faults', () => {
  const received = async (fault: string, calls = 4) => {
    const receiver = await openReceiver();
    const { queue, ended } = await openService({ runSeconds: 1 }, { faults: { [fault]: 1 } });
    const id = await queue({ webhook: receiver.url });
    await ended(id);
    return { id, webhooks: await receiver.until((webhooks) => webhooks.length === calls) };
  };

  it('lie-webhook says success from the first webhook on', async () => {
    const { webhooks } = await received('lie-webhook');
    expect(new Set(webhooks.map(({ body }) => body['status']))).toEqual(new Set(['success']));
  });

  it('stray-webhook names a run that does not exist', async () => {
    const { id, webhooks } = await received('stray-webhook');
    expect(webhooks.map(({ body }) => body['run_id'])).not.toContain(id);
  });

  it('delay-webhook sends a webhook 3 s late, after later ones', async () => {
    const receiver = await openReceiver();
    const { queue } = await openService({ runSeconds: 1 }, { faults: { 'delay-webhook': 0.5 }, seed: 2 });
    await queue({ webhook: receiver.url });
    const told = (await receiver.until((webhooks) => webhooks.length === 4)).map(({ body }) =>
      String(body['status']),
    );
    expect(told.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['queued', 'running', 'started', 'success']);
    expect(told).not.toEqual(['queued', 'started', 'running', 'success']);
  });
});

describe('files with faults', () => {
  const fetched = async (fault: string) => {
    const { queue, ended, service } = await openService({}, { faults: { [fault]: 1 }, speed: 1e6 });
    const [output] = (await ended(await queue())).outputs;
    return { file: output?.files[0], service };
  };
  const bytesOf = async (url = ''): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer());

  it.each(['cut-file', 'short-file'])('%s ends before its length', async (fault) => {
    const { file } = await fetched(fault);
    await expect(bytesOf(file?.url)).rejects.toThrow('terminated');
  });

  it('changed-file has different bytes at each request', async () => {
    const { file } = await fetched('changed-file');
    expect(await bytesOf(file?.url)).not.toEqual(await bytesOf(file?.url));
  });

  it('script-file is an HTML page, whatever its name is', async () => {
    const { file } = await fetched('script-file');
    expect((await bytesOf(file?.url)).toString()).toContain('<script>');
  });

  it('wild-name points outside the folder', async () => {
    const { file } = await fetched('wild-name');
    expect(file?.filename).toBe('../../escape.png');
    expect((await fetch(file?.url ?? '')).status).toBe(200);
  });

  it('private-file expires an hour after it was shown, at the speed of the service', async () => {
    const { file } = await fetched('private-file');
    expect(file?.url).toMatch(/\?expires=\d+/);
    await expect.poll(async () => (await fetch(file?.url ?? '')).status).toBe(403);
  });
});
