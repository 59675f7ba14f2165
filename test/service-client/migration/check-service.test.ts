import { describe, expect, it } from 'vitest';
import {
  machineOfLastRun,
  verify,
  type VerifyParams,
} from '../../../src/service-client/migration/check-service.ts';
import { connectRunService } from '../../../src/service-client/client.ts';
import { keyFromEnvironment } from '../../../src/host/settings/api-key.ts';
import { ServiceClock } from '../../../src/service-client/connection.ts';
import { openTransport } from '../../../src/host/http/transport.ts';
import { openService, present, TOKEN } from '../../run-service/asking.ts';
import { scripted, answer } from '../scripted.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';

/** A real service whose deployment is verified. */
async function verifying(spec: object, order: Partial<VerifyParams> = {}, options: object = {}) {
  const { service: local, deploymentId } = await openService({ ...spec }, options);
  const service = connectRunService({
    base: local.base,
    key: keyFromEnvironment(TOKEN, 'TEST'),
    transport: openTransport(2),
    clock: new ServiceClock(),
  });
  const deployment = present(await service.getDeployment(deploymentId));
  const queued: string[] = [];
  const go = () =>
    verify({
      service,
      deployment,
      inputs: {},
      queued: (runId) => void queued.push(runId),
      stop: new AbortController().signal,
      ...order,
    });
  return { local, service, deployment, queued, go };
}

describe('the verification run', () => {
  it('is bought once, followed to its end, and shows its machine', async () => {
    const { local, queued, go } = await verifying({ runSeconds: 5, machineVersion: 'v2.0.7' });
    expect(await go()).toEqual({
      check: { kind: 'ended', runId: queued[0], outcome: 'succeeded', seconds: expect.any(Number) },
      machine: { version: 'v2.0.7', type: 'comfy-deploy-serverless' },
    });
    expect(local.stats().requests.queue).toBe(1);
  });

  it('has the flag and no webhook', async () => {
    const requests: string[] = [];
    const service = await scripted(connectRunService, (socket, text) => {
      requests.push(text);
      socket.write(answer(404, '{"detail":"Deployment not found"}'));
    });
    const deployment = { id: RUN } as VerifyParams['deployment'];
    const stop = new AbortController().signal;
    const { check } = await verify({ service, deployment, inputs: {}, queued: () => undefined, stop });
    expect(check).toEqual({ kind: 'refused', reason: 'the service answered 404: Deployment not found' });
    expect(requests.join('')).toContain(`{"deployment_id":"${RUN}","inputs":{},"flags":["provider_v2"]}`);
    expect(requests.filter((text) => text.startsWith('POST'))).toHaveLength(1);
  });

  it('is reported as failed if it fails', async () => {
    const { go } = await verifying({ runSeconds: 5 }, {}, { faults: { fail: 1 } });
    expect((await go()).check).toMatchObject({
      kind: 'ended',
      outcome: 'failed',
      reason: expect.stringContaining('failed at'),
    });
  });

  it('is not sent again if its answer is lost, and is reported as possibly bought', async () => {
    const { local, go } = await verifying({}, {}, { faults: { 'drop-answer': 1 } });
    expect((await go()).check).toMatchObject({ kind: 'unconfirmed' });
    expect(local.stats().requests.queue).toBe(1);
  });

  it('is cancelled some time after its time limit', async () => {
    // The machine takes the run immediately and exceeds the deployment's time limit.
    const { service, deployment, queued } = await verifying({ runSeconds: 100 }, {}, { speed: 1 });
    const { check } = await verify({
      service,
      deployment: { ...deployment, runTimeoutSeconds: 0.3 },
      inputs: {},
      queued: (runId) => void queued.push(runId),
      stop: new AbortController().signal,
      patience: { queueMs: 60_000, marginMs: 0 },
    });
    expect(check).toMatchObject({ kind: 'abandoned', runId: queued[0], wasCancelled: true });
    expect(await service.getRun(queued[0] ?? '')).toMatchObject({ status: 'cancelled' });
  });

  it('is cancelled when the user stops waiting', async () => {
    const stop = new AbortController();
    const { service, go } = await verifying(
      { runSeconds: 100 },
      { stop: stop.signal, queued: () => setImmediate(() => stop.abort()) },
      { speed: 1 },
    );
    const { check } = await go();
    expect(check).toMatchObject({ kind: 'abandoned', wasCancelled: true });
    expect(check.kind === 'abandoned' && (await service.getRun(check.runId))?.status).toBe('cancelled');
  });
});

describe('the last run of a deployment', () => {
  it('shows its machine without buying a run', async () => {
    const { local, service, deployment, go } = await verifying({ runSeconds: 1, machineVersion: 'v2.2.0' });
    expect(await machineOfLastRun(service, deployment)).toEqual({});
    await go();
    expect(await machineOfLastRun(service, deployment)).toEqual({
      version: 'v2.2.0',
      type: 'comfy-deploy-serverless',
    });
    expect(local.stats().requests.queue).toBe(1);
  });

  it('shows nothing if the machine does not show its node version', async () => {
    const { service, deployment, go } = await verifying({ runSeconds: 1, machineVersion: null });
    expect((await go()).machine).toEqual({ version: undefined, type: 'comfy-deploy-serverless' });
    expect(await machineOfLastRun(service, deployment)).toEqual({
      version: undefined,
      type: 'comfy-deploy-serverless',
    });
  });
});
