import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createMachines,
  type Container,
  type Machines,
  type Ticket,
} from '../../src/run-service/executors/rehearsal/simulated-machines.ts';
import { present } from './asking.ts';
import { createHandClock } from './hand-clock.ts';
import { cpuMs } from '../stage/cpu.ts';

const censusOf = ({ census }: Pick<Machines<Ticket>, 'census'>) =>
  census().get('d') ?? { waiting: 0, busy: 0, idle: 0 };

type Begun = {
  readonly number: number;
  readonly container: Container;
  readonly cold: boolean;
  readonly atMs: number;
};

function openYard(limit: number, idleMs = 1000) {
  const clock = createHandClock();
  const begun: Begun[] = [];
  let containers = 0;
  const machines = createMachines<Ticket>({
    clock,
    limitsOf: () => ({ limit, idleMs }),
    name: () => `c${++containers}`,
    begin: ({ number }, container, cold) => begun.push({ number, container, cold, atMs: clock.now() }),
  });
  const wait = (number: number, gpu = 'A10G', owner = 'ann'): void =>
    machines.wait({ number, deploymentId: 'd', gpu, owner });
  const last = (): Begun => present(begun.at(-1));
  return { clock, machines, begun, wait, last };
}

describe('machines', () => {
  it('evict the container of another gpu that has been idle longest when the pool is full', () => {
    const { clock, machines, begun, wait, last } = openYard(2);
    wait(1, 'T4');
    wait(2, 'L4');
    clock.to(10);
    machines.release(present(begun[1]).container);
    clock.to(20);
    machines.release(present(begun[0]).container);
    wait(3, 'H100');
    expect(last()).toMatchObject({ number: 3, cold: true, container: { gpu: 'H100' } });
    wait(4, 'T4');
    expect(last(), 'the L4 was evicted, the T4 is still warm').toMatchObject({ number: 4, cold: false });
  });

  it('reuse the container that has been idle longest', () => {
    const { clock, machines, begun, wait, last } = openYard(2);
    wait(1);
    wait(2);
    clock.to(10);
    machines.release(present(begun[1]).container);
    clock.to(20);
    machines.release(present(begun[0]).container);
    wait(3);
    expect(last().container.id).toBe('c2');
  });

  it('drop a container that was idle too long, and not earlier', () => {
    const { clock, machines, wait, last } = openYard(2, 1000);
    wait(1);
    machines.release(last().container);
    clock.to(999);
    expect(censusOf(machines).idle).toBe(1);
    clock.to(1000);
    expect(censusOf(machines).idle).toBe(0);
    wait(2);
    expect(last().cold).toBe(true);
  });

  it('keep a container warm from its last use, not from its first', () => {
    const { clock, machines, wait, last } = openYard(1, 1000);
    wait(1);
    machines.release(last().container);
    clock.to(900);
    wait(2);
    clock.to(950);
    machines.release(last().container);
    clock.to(1900);
    wait(3);
    expect(last()).toMatchObject({ number: 3, cold: false });
  });

  it('skip a run that left the queue', () => {
    const { machines, begun, wait, last } = openYard(1);
    wait(1);
    wait(2);
    wait(3);
    const ticket = (number: number): Ticket => ({ number, deploymentId: 'd', gpu: 'A10G', owner: 'ann' });
    expect(machines.leave(ticket(2))).toBe(true);
    expect(machines.leave(ticket(2)), 'it left already').toBe(false);
    expect(machines.leave(ticket(1)), 'it never waited').toBe(false);
    machines.release(last().container);
    expect(begun.map((started) => started.number)).toEqual([1, 3]);
  });

  it('count a container that was busy before the restart', () => {
    const { machines, begun, wait } = openYard(1);
    const held = { id: 'old', deploymentId: 'd', gpu: 'A10G' };
    machines.hold(held);
    wait(7);
    expect(begun).toEqual([]);
    machines.release(held);
    expect(begun).toMatchObject([{ number: 7, cold: false, container: { id: 'old' } }]);
  });

  it('serve a queue of 100,000 runs quickly, even if every second one leaves', () => {
    const { machines, begun, wait, last } = openYard(1);
    const runs = 100_000;
    const startedMs = cpuMs();
    for (let number = 1; number <= runs; number++) wait(number);
    for (let number = 2; number <= runs; number += 2)
      machines.leave({ number, deploymentId: 'd', gpu: 'A10G', owner: 'ann' });
    for (let served = 0; served < runs / 2; served++) machines.release(last().container);
    expect(begun.length).toBe(runs / 2);
    expect(cpuMs() - startedMs).toBeLessThan(3000);
  });

  it('serve owners round robin, and show what comes next', () => {
    const { machines, begun, wait, last } = openYard(1);
    for (let number = 1; number <= 600; number++) wait(number, 'A10G', 'ann');
    wait(601, 'L4', 'ben');
    wait(602, 'A10G', 'ben');
    wait(603, 'A10G', 'cleo');
    expect(machines.ahead(6).map(({ number }) => number)).toEqual([601, 603, 2, 602, 3, 4]);
    expect(machines.census().get('d')).toEqual({ waiting: 602, busy: 1, idle: 0 });
    for (let ended = 0; ended < 6; ended++) machines.release(last().container);
    expect(begun.map((ticket) => ticket.number)).toEqual([1, 601, 603, 2, 602, 3, 4]);
  });

  it('never exceed the limit, lose a run, serve one twice or let one overtake another of its owner', () => {
    const gpu = fc.constantFrom('T4', 'A10G', 'H100');
    const owner = fc.constantFrom('ann', 'ben');
    const arrival = fc.record({ gapMs: fc.nat(400), gpu, owner, workMs: fc.integer({ min: 1, max: 900 }) });
    const plan = fc.record({
      limit: fc.integer({ min: 1, max: 4 }),
      arrivals: fc.array(arrival, { maxLength: 40 }),
    });
    const property = fc.property(plan, ({ limit, arrivals }) => simulate(limit, arrivals));
    expect(fc.check(property, { numRuns: 300 })).toMatchObject({ failed: false });
  });
});

type Arrival = {
  readonly gapMs: number;
  readonly gpu: string;
  readonly owner: string;
  readonly workMs: number;
};

function simulate(limit: number, arrivals: readonly Arrival[]): void {
  const clock = createHandClock();
  const busy = new Set<string>();
  const order: number[] = [];
  let containers = 0;
  const machines = createMachines<Ticket & { readonly workMs: number }>({
    clock,
    limitsOf: () => ({ limit, idleMs: 500 }),
    name: () => `c${++containers}`,
    begin({ number, gpu, workMs }, container) {
      expect(container.gpu).toBe(gpu);
      expect(busy.has(container.id), 'a container serves one run at a time').toBe(false);
      busy.add(container.id);
      order.push(number);
      const { busy: counted, idle } = censusOf(machines);
      expect(counted).toBe(busy.size);
      expect(counted + idle).toBeLessThanOrEqual(limit);
      clock.at(clock.now() + workMs, () => {
        busy.delete(container.id);
        machines.release(container);
      });
    },
  });
  let atMs = 0;
  arrivals.forEach(({ gapMs, gpu, owner, workMs }, index) => {
    atMs += gapMs;
    clock.to(atMs);
    machines.wait({ number: index, deploymentId: 'd', gpu, owner, workMs });
    const { waiting, busy: working } = censusOf(machines);
    expect(waiting === 0 || working === limit, 'a run waits only while every container is busy').toBe(true);
  });
  clock.to(atMs + 1_000_000);
  expect(order.toSorted((a, b) => a - b)).toEqual(arrivals.map((_, index) => index));
  for (const name of ['ann', 'ben']) {
    const own = order.filter((number) => arrivals[number]?.owner === name);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  expect(censusOf(machines)).toEqual({ waiting: 0, busy: 0, idle: 0 });
}
