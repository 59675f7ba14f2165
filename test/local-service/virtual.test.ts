import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { numbersFrom } from '../../src/local-service/chance.ts';
import { deploymentSpecSchema } from '../../src/local-service/server.ts';
import {
  openVirtualService,
  VIRTUAL_START_MS,
  type VirtualService,
} from '../../src/local-service/virtual.ts';
import { mostAtOnce } from './at-once.ts';
import { runListSchema } from '../../src/run-service/contract/run.ts';
import { cpuMs } from '../stage/cpu.ts';
import { IS_LONG } from '../stage/outage.ts';

const HOUR_MS = 3_600_000;
const MACHINES = 10;
const RUNS = IS_LONG ? 50_000 : 2_000;
/** Of processor time, a run with all that is asked of the service for it. */
const MOST_MS_A_RUN = 1.2;

const deployments = Array.from({ length: MACHINES }, (_, index) =>
  deploymentSpecSchema.parse({
    name: `machine ${index}`,
    concurrencyLimit: 8,
    coldStartSeconds: 5,
    runSeconds: { default: 8, T4: 16, H100: 4 },
    runSpread: 0.3,
  }),
);

/** Plans `runs` arrivals over two hours, and lets them pass. */
async function twoHours(seed: number, runs: number): Promise<VirtualService> {
  const service = openVirtualService({
    deployments,
    seed,
    faults: { fail: 0.02, preempt: 0.01, oom: 0.001 },
  });
  onTestFinished(() => service.close());
  const draw = numbersFrom(seed);
  for (let number = 0; number < runs; number += 1) {
    const atMs = VIRTUAL_START_MS + Math.floor(draw() * 2 * HOUR_MS);
    const spec = deployments[Math.floor(draw() * MACHINES)];
    const gpu = ['A10G', 'T4', 'H100'][Math.floor(draw() * 3)];
    service.at(atMs, async () => {
      const body = { deployment_id: spec?.id, inputs: { number }, gpu, webhook: 'http://there.invalid/hook' };
      const { status } = await service.ask('POST', '/api/run/deployment/queue', body);
      if (status !== 200) throw new Error(`arrival ${number} was answered ${status}`);
    });
  }
  await service.pass(VIRTUAL_START_MS + 2 * HOUR_MS);
  return service;
}

/** Everything that the service knows of what it did: each run in full, each call, each sum. */
async function ledgerOf(service: VirtualService): Promise<{ hash: string; runs: string[]; sums: string }> {
  const runs: string[] = [];
  for (const { workflowId } of deployments.map(({ id }) => ({ workflowId: id }))) {
    const { text } = await service.ask('GET', `/api/deployment/${workflowId}/runs?limit=10000`);
    runs.push(...(JSON.parse(text) as { data: object[] }).data.map((run) => JSON.stringify(run)));
  }
  const sums = (await service.ask('GET', '/control/ledger')).text;
  const hash = createHash('sha256')
    .update(JSON.stringify([runs, service.calls, sums]))
    .digest('hex');
  return { hash, runs, sums };
}

describe('virtual time', () => {
  it('passes two hours of thousands of runs on ten machines in seconds, twice with the same ledger', async () => {
    const hashes: string[] = [];
    for (const which of ['first', 'second']) {
      const began = cpuMs();
      const service = await twoHours(1, RUNS);
      expect((cpuMs() - began) / RUNS, `milliseconds a run of the ${which}`).toBeLessThan(MOST_MS_A_RUN);
      const ledger = await ledgerOf(service);
      hashes.push(ledger.hash);
      expect(ledger.runs).toHaveLength(RUNS);
      expect(service.calls.length).toBeGreaterThan(RUNS * 3.5);
      expect(Object.keys(service.stats().faults).sort()).toEqual(['fail', 'oom', 'preempt']);
    }
    expect(hashes[1]).toBe(hashes[0]);
  });

  it('has another ledger for another seed', async () => {
    const [one, other] = [await twoHours(1, 500), await twoHours(2, 500)];
    expect((await ledgerOf(one)).hash).not.toBe((await ledgerOf(other)).hash);
  });

  it('keeps the limits of the machines, as real time does', async () => {
    const service = await twoHours(3, 2_000);
    const sheet = await service.ask('GET', '/api/deployments');
    for (const { workflow_id } of JSON.parse(sheet.text) as { workflow_id: string }[]) {
      const { text } = await service.ask('GET', `/api/workflow/${workflow_id}/runs?limit=10000`);
      const ended = runListSchema.parse(JSON.parse(text)).filter((run) => run.endedAtMs !== undefined);
      expect(mostAtOnce(ended)).toBeLessThanOrEqual(8);
    }
  });
});
