import { describe, expect, it } from 'vitest';
import { createFaults } from '../../src/local-service/faults.ts';
import { openService } from './asking.ts';
import { openReceiver } from './receiver.ts';

describe('the fault fail', () => {
  it('ends a run half way, without outputs', async () => {
    const { queue, ended, wire, service } = await openService({ runSeconds: 6 }, { faults: { fail: 1 } });
    const id = await queue();
    expect(await ended(id)).toMatchObject({ status: 'failed', outputs: [], progress: 0.57 });
    expect((await wire(id))['run_duration']).toBe(0.03);
    expect(service.stats().faults).toEqual({ fail: 1 });
  });

  it('strikes the same runs again with the same seed, and about as many as its rate says', () => {
    const struck = (seed: number): number[] => {
      const faults = createFaults({ fail: 0.3 }, seed);
      return Array.from({ length: 10_000 }, (_, number) => number).filter((n) => faults.strikes('fail', n));
    };
    expect(struck(1)).toEqual(struck(1));
    expect(struck(1)).not.toEqual(struck(2));
    expect(Math.abs(struck(1).length - 3000)).toBeLessThan(150);
  });

  it('spares all runs at rate 0 and none at rate 1', () => {
    const numbers = Array.from({ length: 1000 }, (_, number) => number);
    const at = (rate: number): number =>
      numbers.filter((number) => createFaults({ fail: rate }, 7).strikes('fail', number)).length;
    expect([at(0), at(1)]).toEqual([0, 1000]);
  });
});

describe('the fault drop-answer', () => {
  it('cuts the connection, yet leaves exactly one run, which ends like any other', async () => {
    const { ask, queue, deploymentId, ended } = await openService({}, { faults: { 'drop-answer': 1 } });
    await expect(queue({ inputs: { n: 1 } })).rejects.toThrow(/socket|closed|reset/i);
    const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs`);
    const listed = json['data'] as { id: string }[];
    expect(listed).toHaveLength(1);
    expect((await ended(String(listed[0]?.id))).status).toBe('success');
  });

  it('strikes some at a rate between: answered and dropped together are the runs', async () => {
    const { ask, queue, deploymentId } = await openService({}, { faults: { 'drop-answer': 0.4 } });
    const sent = await Promise.allSettled(Array.from({ length: 60 }, () => queue()));
    const answered = sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs?limit=1000`);
    const listed = (json['data'] as { id: string }[]).map((run) => run.id);
    expect(listed).toHaveLength(60);
    expect(listed).toEqual(expect.arrayContaining(answered));
    expect(answered.length).toBeGreaterThan(15);
    expect(answered.length).toBeLessThan(55);
  });
});

describe('the fault lose-webhook', () => {
  it('sends none at rate 1, and the run is the same', async () => {
    const receiver = await openReceiver();
    const { queue, ended, service } = await openService({}, { faults: { 'lose-webhook': 1 } });
    expect((await ended(await queue({ webhook: receiver.url }))).status).toBe('success');
    expect(service.stats().faults).toEqual({ 'lose-webhook': 4 });
    expect(receiver.received).toEqual([]);
  });

  it('strikes each change of a run by itself', () => {
    const faults = createFaults({ 'lose-webhook': 0.5 }, 1);
    const changes = Array.from({ length: 40 }, (_, n) => faults.strikes('lose-webhook', 1, `change ${n}`));
    expect(new Set(changes)).toEqual(new Set([true, false]));
  });
});
