import { describe, expect, it } from 'vitest';
import { createFaults } from '../../src/run-service/faults.ts';
import { openService } from './asking.ts';
import { openReceiver } from './receiver.ts';

const isReal = (): boolean => false;
const on = (number: number) => ({ number, deploymentId: 'd' });

describe('the fault fail', () => {
  it('ends a run half way, without outputs', async () => {
    const { queue, ended, wire, service } = await openService({ runSeconds: 6 }, { faults: { fail: 1 } });
    const id = await queue();
    expect(await ended(id)).toMatchObject({ status: 'failed', outputs: [], progress: 0.57 });
    expect((await wire(id))['run_duration']).toBe(0.03);
    expect(service.stats().faults).toEqual({ fail: 1 });
  });

  it('hits the same runs with the same seed, and about as many as its rate says', () => {
    const struck = (seed: number): number[] => {
      const faults = createFaults({ fail: 0.3 }, { seed, isReal });
      return Array.from({ length: 10_000 }, (_, number) => number).filter((n) =>
        faults.shouldInject('fail', on(n)),
      );
    };
    expect(struck(1)).toEqual(struck(1));
    expect(struck(1)).not.toEqual(struck(2));
    expect(Math.abs(struck(1).length - 3000)).toBeLessThan(150);
  });

  it('spares all runs at rate 0 and none at rate 1', () => {
    const numbers = Array.from({ length: 1000 }, (_, number) => number);
    const at = (rate: number): number =>
      numbers.filter((number) =>
        createFaults({ fail: rate }, { seed: 7, isReal }).shouldInject('fail', on(number)),
      ).length;
    expect([at(0), at(1)]).toEqual([0, 1000]);
  });
});

describe('the fault drop-answer', () => {
  it('closes the connection but creates exactly one run, which ends like any other', async () => {
    const { ask, queue, deploymentId, ended } = await openService({}, { faults: { 'drop-answer': 1 } });
    await expect(queue({ inputs: { n: 1 } })).rejects.toThrow(/socket|closed|reset/i);
    const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs`);
    const listed = json['data'] as { id: string }[];
    expect(listed).toHaveLength(1);
    expect((await ended(String(listed[0]?.id))).status).toBe('success');
  });
});

describe('the fault lose-webhook', () => {
  it('sends no webhook at rate 1, and does not change the run', async () => {
    const receiver = await openReceiver();
    const { queue, ended, service } = await openService({}, { faults: { 'lose-webhook': 1 } });
    expect((await ended(await queue({ webhook: receiver.url }))).status).toBe('success');
    expect(service.stats().faults).toEqual({ 'lose-webhook': 4 });
    expect(receiver.received).toEqual([]);
  });

  it('is drawn separately for each change of a run', () => {
    const faults = createFaults({ 'lose-webhook': 0.5 }, { seed: 1, isReal });
    const changes = Array.from({ length: 40 }, (_, n) =>
      faults.shouldInject('lose-webhook', on(1), `change ${n}`),
    );
    expect(new Set(changes)).toEqual(new Set([true, false]));
  });
});

describe('the faults of Queue Run', () => {
  it('busy-answer answers 429 with Retry-After although the run was created', async () => {
    const { ask, deploymentId } = await openService({}, { faults: { 'busy-answer': 1 } });
    const body = JSON.stringify({ deployment_id: deploymentId });
    const answer = await ask('POST', '/api/run/deployment/queue', { body });
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs`);
    expect(json['data']).toHaveLength(1);
  });

  it('slow-answer creates the run immediately and answers late', async () => {
    const { ask, queue, deploymentId } = await openService({}, { faults: { 'slow-answer': 1 } });
    const began = performance.now();
    const late = queue();
    await expect
      .poll(
        async () =>
          ((await ask('GET', `/api/deployment/${deploymentId}/runs`)).json['data'] as object[]).length,
      )
      .toBe(1);
    expect(performance.now() - began).toBeLessThan(4_000);
    await late;
    expect(performance.now() - began).toBeGreaterThan(4_900);
  });
});

describe('the other faults', () => {
  it('repeat-webhook sends each webhook twice', async () => {
    const receiver = await openReceiver();
    const { queue, ended } = await openService({}, { faults: { 'repeat-webhook': 1 } });
    await ended(await queue({ webhook: receiver.url }));
    await expect.poll(() => receiver.received.length).toBe(8);
  });

  it('empty-webhook sends a success without the outputs, which Get Run has', async () => {
    const receiver = await openReceiver();
    const { queue, ended } = await openService({}, { faults: { 'empty-webhook': 1 } });
    const run = await ended(await queue({ webhook: receiver.url }));
    expect(run.outputs).toHaveLength(1);
    await expect.poll(() => receiver.received.length).toBe(4);
    for (const { body } of receiver.received) expect(body).toMatchObject({ outputs: [] });
  });

  it.each([
    ['away-file', 503],
    ['lose-file', 404],
  ])('%s answers %i for a file at some requests', async (fault, status) => {
    const { queue, ended } = await openService({}, { faults: { [fault]: 0.5 } });
    const [output] = (await ended(await queue())).outputs;
    const url = output?.files[0]?.url ?? '';
    const statuses = new Set<number>();
    for (let time = 0; time < 30; time += 1) statuses.add((await fetch(url)).status);
    expect(statuses).toEqual(new Set([200, status]));
  });
});
