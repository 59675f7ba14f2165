import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classifyResponse } from '../../src/batch/classify-response.ts';
import { parseExactly } from '../../src/host/formats/exact-json.ts';
import { connectRunService } from '../../src/service-client/client.ts';
import { keyFromFile } from '../../src/host/settings/api-key.ts';
import { answer, scripted, type Act } from './scripted.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';
const order = {
  deploymentId: RUN,
  inputs: { seed: 1 },
  gpu: 'L4',
  webhook: 'http://runsheet.invalid/hook',
} as const;
const free = { beforeSend: () => undefined, deadlineMs: 10_000 };

const service = (act: Act, key?: Parameters<typeof scripted>[2]) => scripted(connectRunService, act, key);

describe('Queue Run', () => {
  it('returns the facts of the answer', async () => {
    const { queueRun, requests } = await service((socket) =>
      socket.write(answer(200, `{"run_id":"${RUN}"}`)),
    );
    expect(await queueRun(order, free)).toEqual({ begun: true, status: 200, runId: RUN });
    expect(requests[0]).toContain('POST /api/run/deployment/queue');
    expect(requests[0]).toContain('authorization: Bearer key-000000001');
    expect(requests[0]).not.toMatch(/upgrade|h2c/i);
  });

  it('is unconfirmed, and sent once, if a worker behind the service may have taken it', async () => {
    const { queueRun, requests } = await service((socket) =>
      socket.write(answer(429, '{"detail":"Error creating run: 429"}')),
    );
    expect(classifyResponse(await queueRun(order, free))).toBe('unconfirmed');
    expect(requests).toHaveLength(1);
  });

  it.each([
    [429, '{"detail":"slow down"}', 'retry-after: 7\r\n', 'throttled'],
    [422, '{"detail":[{"loc":["body","inputs","seed"],"msg":"bad","type":"x"}]}', '', 'rejected'],
    [422, '{"detail":[{"loc":["body","deployment_id"],"msg":"bad","type":"x"}]}', '', 'blocked'],
    [402, '{"detail":"no credits"}', '', 'blocked'],
  ])('with %i %s is %4$s', async (status, body, headers, became) => {
    const { queueRun } = await service((socket) => socket.write(answer(status, body, headers)));
    const facts = await queueRun(order, free);
    expect(classifyResponse(facts)).toBe(became);
    expect(facts.retryAfterMs).toBe(headers === '' ? undefined : 7_000);
  });

  it('reads a Retry-After date, and ignores an invalid one', async () => {
    const waitOf = async (header: string): Promise<number | undefined> => {
      const { queueRun } = await service((socket) =>
        socket.write(answer(429, '{"detail":"slow down"}', `retry-after: ${header}\r\n`)),
      );
      return (await queueRun(order, free)).retryAfterMs;
    };
    const ms = await waitOf(new Date(Date.now() + 60_000).toUTCString());
    expect(ms).toBeGreaterThan(50_000);
    expect(ms).toBeLessThanOrEqual(60_000);
    expect(await waitOf(new Date(Date.now() - 60_000).toUTCString())).toBe(0);
    expect(await waitOf('soon')).toBeUndefined();
  });

  it('tries a new key once if the old one was refused', async () => {
    const folder = freshFolder();
    const file = join(folder, 'key');
    writeFileSync(file, 'old-key-000001\n');
    const key = keyFromFile(file, 'RUNSHEET_API_KEY_FILE');
    writeFileSync(file, 'new-key-000002\n');
    const { queueRun, requests } = await service((socket, text) => {
      const isNew = text.includes('Bearer new-key-000002');
      socket.write(isNew ? answer(200, `{"run_id":"${RUN}"}`) : answer(401, '{"detail":"Invalid"}'));
    }, key);
    expect(await queueRun(order, free)).toMatchObject({ runId: RUN });
    expect(requests).toHaveLength(2);
  });

  it('sends seeds of 64 bits digit for digit', async () => {
    const { queueRun, requests } = await service((socket) =>
      socket.write(answer(200, `{"run_id":"${RUN}"}`)),
    );
    await queueRun(
      { ...order, inputs: parseExactly('{"seed":18446744073709551615}') as Record<string, unknown> },
      free,
    );
    expect(requests.join('')).toContain('"seed":18446744073709551615');
  });
});

describe('reading', () => {
  it('distinguishes a missing run from a failing service', async () => {
    const missing = await service((socket) => socket.write(answer(404, '{"detail":"Run not found"}')));
    expect(await missing.getRun(RUN)).toBeUndefined();
    const gateway = await service((socket) => socket.write(answer(404, '<h1>404 Not Found</h1>')));
    await expect(gateway.getRun(RUN)).rejects.toMatchObject({ code: 'E304' });
    const broken = await service((socket) => socket.write(answer(503, '{"detail":"away"}')));
    await expect(broken.getRun(RUN)).rejects.toMatchObject({ code: 'E304' });
  });

  it('names the refused key without showing it', async () => {
    const { getRun } = await service((socket) => socket.write(answer(401, '{"detail":"Invalid token"}')));
    const error = await getRun(RUN).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E301', exit: 4 });
    expect(JSON.stringify(error) + String(error)).not.toContain('key-000000001');
  });

  type Client = Awaited<ReturnType<typeof service>>;
  const page = { limit: 1, offset: 0 };
  const optional: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
    ['prices', ({ getPrices }) => getPrices()],
    ['a profile', ({ getProfile }) => getProfile()],
    ['a run list', ({ listRuns }) => listRuns(RUN, page)],
    ['deployments', ({ listDeployments }) => listDeployments()],
    ['a deployment', ({ getDeployment }) => getDeployment(RUN)],
  ];

  describe.each(optional)('%s that a service lacks', (_, read) => {
    it.each([
      [404, '{"detail":"Not Found"}'],
      [410, '{"detail":"Gone"}'],
      [405, '{"detail":"Method Not Allowed"}'],
      [405, ''],
      [501, 'Not Implemented'],
    ])('counts as missing after a %i with %j', async (status, body) => {
      expect(await read(await service((socket) => socket.write(answer(status, body))))).toBeUndefined();
    });

    it.each([
      [404, '<h1>404 Not Found</h1>'],
      [404, ''],
      [404, '{"message":"no Route matched with those values"}'],
      [410, 'Gone'],
      [502, '{"detail":"Not Found"}'],
      [503, '{"detail":"Not Found"}'],
    ])(
      'is not believed to be missing after a %i with %j, which a gateway sends for it',
      async (status, body) => {
        const client = await service((socket) => socket.write(answer(status, body)));
        await expect(read(client)).rejects.toMatchObject({ code: 'E304' });
      },
    );
  });

  it('recognises a missing deployment although the service wraps its own 404 into a 500', async () => {
    const of = (detail: string) => service((socket) => socket.write(answer(500, JSON.stringify({ detail }))));
    expect(await (await of('404: Deployment not found')).getDeployment(RUN)).toBeUndefined();
    await expect((await of('4040 errors')).getDeployment(RUN)).rejects.toMatchObject({ code: 'E304' });
    await expect((await of('404: no')).getPrices()).rejects.toMatchObject({ code: 'E304' });
  });
});

describe('an answer with an unexpected body', () => {
  type Reading = (service: Awaited<ReturnType<typeof serviceThat>>) => Promise<unknown>;
  const serviceThat = (body: string) => service((socket) => socket.write(answer(200, body)));
  const price = '{"A10G":0.0003,"H100":-1}';

  it.each<readonly [string, string, Reading, RegExp]>([
    [
      'a page',
      '<h1>Welcome</h1>',
      ({ getRun }) => getRun(RUN),
      /GET \/run\/\S+ .*it is not JSON: <h1>Welcome/,
    ],
    ['another object', '{"ok":true}', ({ getRun }) => getRun(RUN), /GET \/run\/\S+ .*id: /],
    [
      'an object for a list',
      '{"deployments":[]}',
      ({ listDeployments }) => listDeployments(),
      /GET \/deployments: /,
    ],
    [
      'a number that is none',
      '[{"id":"a","concurrency_limit":1e400}]',
      ({ listDeployments }) => listDeployments(),
      /0\.concurrency_limit: /,
    ],
    ['a list for an object', '[]', ({ getDeployment }) => getDeployment(RUN), /GET \/deployment\//],
    ['a negative price', price, ({ getPrices }) => getPrices(), /GET \/platform\/gpu-pricing: .*H100: /],
    ['an absurd price', '{"A10G":1e9}', ({ getPrices }) => getPrices(), /A10G: /],
    [
      'a word for a time',
      '{"post_deadline_ms":"soon"}',
      ({ getProfile }) => getProfile(),
      /post_deadline_ms: /,
    ],
    [
      'a list for runs',
      '{"runs":1}',
      ({ listRuns }) => listRuns(RUN, { limit: 1, offset: 0 }),
      /GET \/workflow\//,
    ],
  ])('throws an error that names the field: %s', async (_, body, read, message) => {
    const error = await read(await serviceThat(body)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E310', exit: 6, message: expect.stringMatching(message) });
    expect(error).toMatchObject({ hint: expect.stringContaining('runsheet doctor') });
  });

  it.each([
    ['post_deadline_ms', 0],
    ['post_deadline_ms', 1e12],
    ['list_gap_ms', -1],
    ['settle_ms', -1],
    ['settle_without_control_ms', 1e12],
    ['poll_interval_ms', 0],
    ['poll_interval_ms', 1e12],
  ])('such as a profile with %s %d is refused', async (name, value) => {
    const profile = {
      post_deadline_ms: 10_000,
      list_gap_ms: 1_000,
      settle_ms: 0,
      settle_without_control_ms: 3_000,
      poll_interval_ms: 250,
    };
    const good = await serviceThat(JSON.stringify(profile));
    expect(await good.getProfile()).toMatchObject({ postDeadlineMs: 10_000 });
    const bad = await serviceThat(JSON.stringify({ ...profile, [name]: value }));
    await expect(bad.getProfile()).rejects.toMatchObject({
      code: 'E310',
      message: expect.stringContaining(`${name}: `),
    });
  });

  it('is cut in the error if it is very long', async () => {
    const long = await serviceThat(`[${'{"id":1},'.repeat(5_000)}{"id":1}]`);
    const error = await long.listDeployments().catch((thrown: unknown) => thrown);
    expect(String(error).length).toBeLessThan(600);
  });
});

describe('a key that is lost while it is used', () => {
  it('does not change the facts of the call', async () => {
    const folder = freshFolder();
    const file = join(folder, 'key');
    writeFileSync(file, 'old-key-000001\n');
    const key = keyFromFile(file, 'RUNSHEET_API_KEY_FILE');
    const { queueRun, requests } = await service(
      (socket) => socket.write(answer(401, '{"detail":"Invalid"}')),
      key,
    );
    expect(await queueRun(order, free)).toMatchObject({ begun: true, status: 401 });
    expect(requests).toHaveLength(1);
  });
});
