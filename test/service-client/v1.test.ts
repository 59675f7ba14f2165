import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { classifyResponse } from '../../src/batch/classify-response.ts';
import { outcomeOf } from '../../src/service-client/run-outcome.ts';
import { keyFromEnvironment } from '../../src/host/settings/api-key.ts';
import { ServiceClock } from '../../src/service-client/connection.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import { connectV1 } from '../../src/service-client/open-services.ts';
import { openService, TOKEN } from '../run-service/asking.ts';
import { answer, scripted, type Act } from './scripted.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';
const WEBHOOK = 'http://runsheet.invalid/hook/2/b/0123456789abcdef/1/1/00000000000000000000000000000000';
const order = { deploymentId: RUN, inputs: { seed: 1 }, gpu: 'L4', webhook: WEBHOOK } as const;
const free = { beforeSend: () => undefined, deadlineMs: 1_000 };

const service = (act: Act) => scripted(connectV1, act);
const saying = (status: number, body: string, headers?: string) =>
  service((socket: Socket) => void socket.write(answer(status, body, headers)));

describe('Queue Run on V1', () => {
  it('uses V1’s address, with all fields that V1 accepts', async () => {
    const { queueRun, requests } = await saying(200, `{"run_id":"${RUN}"}`);
    expect(await queueRun(order, free)).toEqual({ begun: true, status: 200, runId: RUN });
    expect(requests.join('')).toMatch(/^POST \/api\/run HTTP/);
    expect(requests.join('')).toContain(
      `{"deployment_id":"${RUN}","inputs":{"seed":1},"webhook":"${WEBHOOK}","gpu":"L4"}`,
    );
  });

  it.each([
    ['an unknown deployment blocks the batch', 500, '{"error":"Deployment not found"}', '', 'blocked'],
    ['a missing machine blocks the batch', 500, '{"error":"Machine not found"}', '', 'blocked'],
    ['an invalid request refuses its row', 500, '{"error":"Invalid request body"}', '', 'rejected'],
    [
      'what fails after the run was made may be a run',
      500,
      '{"error":"Error creating run, 502"}',
      '',
      'unconfirmed',
    ],
    ['an unknown error may have created a run', 500, '{"error":"Not found"}', '', 'unconfirmed'],
    ['an answer without a run id may have created a run', 200, '{"run_id":""}', '', 'unconfirmed'],
    [
      'a key that is refused holds the batch',
      401,
      'Revoked token',
      'content-type: text/plain\r\n',
      'blocked',
    ],
    ['a 400 refuses the row', 400, '{"success":false,"error":{"name":"ZodError"}}', '', 'rejected'],
  ])('%s', async (_, status, body, headers, became) => {
    const { queueRun, requests } = await saying(status, body, headers);
    expect(classifyResponse(await queueRun(order, free))).toBe(became);
    expect(requests).toHaveLength(1);
  });

  it('reports the service’s message and not its JSON', async () => {
    const { queueRun } = await saying(500, '{"error":"Deployment not found"}');
    expect(await queueRun(order, free)).toMatchObject({ detail: 'Deployment not found' });
  });

  it('is unconfirmed if the answer is lost', async () => {
    const { queueRun } = await service((socket) => void socket.resetAndDestroy());
    expect(classifyResponse(await queueRun(order, free))).toBe('unconfirmed');
  });
});

describe('a run of V1', () => {
  it('has V1’s fields, and durations from its dates', async () => {
    const { getRun, requests } = await saying(
      200,
      JSON.stringify({
        id: RUN,
        status: 'success',
        webhook: WEBHOOK,
        created_at: '2026-11-21T10:00:00.000Z',
        queued_at: '2026-11-21T10:00:01.000Z',
        started_at: '2026-11-21T10:00:03.500Z',
        ended_at: '2026-11-21T10:00:09.500Z',
        outputs: [{ data: { images: [{ url: 'http://files/1.png', filename: '1.png', type: 'output' }] } }],
        run_log: [{ logs: 'done' }],
      }),
    );
    expect(await getRun(RUN)).toMatchObject({
      webhook: WEBHOOK,
      coldStartSeconds: 2.5,
      runSeconds: 6,
      outputs: [{ files: [{ url: 'http://files/1.png' }] }],
    });
    expect(requests.join('')).toMatch(new RegExp(`^GET /api/run\\?run_id=${RUN} HTTP`));
  });

  it('has no durations if the time when a machine took it is unknown', async () => {
    const { getRun } = await saying(
      200,
      `{"id":"${RUN}","status":"success","created_at":"2026-11-21T10:00:00Z","started_at":"2026-11-21T10:00:00Z","ended_at":"2026-11-21T11:00:00Z"}`,
    );
    const run = await getRun(RUN);
    expect([run?.runSeconds, run?.coldStartSeconds]).toEqual([undefined, undefined]);
    expect(run && outcomeOf(run)).toMatchObject({ kind: 'ended', outcome: 'succeeded' });
  });

  it('is unknown only if V1 itself says so', async () => {
    const missing = await saying(400, '{"code":"400","message":"Workflow not found"}');
    expect(await missing.getRun(RUN)).toBeUndefined();
    for (const [status, body] of [
      [404, '<h1>404</h1>'],
      [400, '{"message":"Bad Request"}'],
      [500, '{"error":"Workflow not found"}'],
    ] as const)
      await expect((await saying(status, body)).getRun(RUN)).rejects.toMatchObject({ code: 'E304' });
  });

  it('throws E301 if V1 refuses the key in plain text', async () => {
    const { getRun } = await saying(401, 'Invalid or expired token', 'content-type: text/plain\r\n');
    await expect(getRun(RUN)).rejects.toMatchObject({
      code: 'E301',
      exit: 4,
      message: expect.stringContaining('Invalid or expired token'),
    });
  });
});

describe('a feature that V1 lacks', () => {
  it('is not requested', async () => {
    const { cancelRun, listRuns, listDeployments, getDeployment, requests } = await saying(200, '{}');
    const page = { limit: 1, offset: 0 };
    expect([
      await cancelRun(RUN),
      await listRuns(RUN, page),
      await listDeployments(),
      await getDeployment(RUN),
    ]).toEqual([false, undefined, undefined, undefined]);
    expect(requests).toEqual([]);
  });

  it('is used if a probe finds it', async () => {
    const { getPrices, getProfile } = await saying(200, '{"L4":0.5}');
    expect([await getPrices(), await getProfile()]).toEqual([{ L4: 0.5 }, undefined]);
  });

  it('is not read from an HTML page that answers every address', async () => {
    const { getPrices, getProfile } = await saying(200, '<html></html>', 'content-type: text/html\r\n');
    expect([await getPrices(), await getProfile()]).toEqual([undefined, undefined]);
  });
});

describe('the local service on its V1 base', () => {
  it('accepts a run, shows it to its end, and knows no other one', async () => {
    const { service: local, deploymentId } = await openService({ runSeconds: 0.1 }, { only: 'v1' });
    const v1 = connectV1({
      base: local.legacyBase,
      key: keyFromEnvironment(TOKEN, 'TEST'),
      transport: openTransport(2),
      clock: new ServiceClock(),
    });
    const { runId = '' } = await v1.queueRun({ ...order, deploymentId, gpu: undefined }, free);
    let run = await v1.getRun(runId);
    while (run?.endedAtMs === undefined) run = await v1.getRun(runId);
    expect(run).toMatchObject({ id: runId, status: 'success', webhook: WEBHOOK, inputs: { seed: 1 } });
    expect(run.outputs[0]?.files).toHaveLength(1);
    expect(run.runSeconds).toBeGreaterThanOrEqual(0);
    expect(await v1.getRun(randomUUID())).toBeUndefined();
    expect(await v1.getProfile()).toMatchObject({ rehearsal: true });
    const unknown = await v1.queueRun({ ...order, deploymentId: randomUUID() }, free);
    expect(classifyResponse(unknown)).toBe('blocked');
    const wrongGpu = await v1.queueRun({ ...order, deploymentId, gpu: 'RTX' }, free);
    expect(classifyResponse(wrongGpu)).toBe('rejected');
  });
});
