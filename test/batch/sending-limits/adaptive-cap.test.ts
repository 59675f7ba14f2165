import { describe, expect, it } from 'vitest';
import type { RunTimes } from '../../../src/batch/events.ts';
import { capOf, noteThrottled } from '../../../src/batch/sending-limits/adaptive-cap.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import type { AdaptiveCap } from '../../../src/batch/useful-concurrency.ts';
import { World } from '../world.ts';
import { Machines, type ServiceShape } from './machines.ts';

const AUTO = { concurrency: 256, adaptive: 4 };
const RUN_MS = 10_000;
/** New machines take 5 s before they have a run, and 8 s before it starts. */
const SERVICE = { runMs: RUN_MS, spread: 0.3, provisionMs: 5_000, bootMs: 8_000, latencyMs: 100 };
const SHORT = { runMs: 1_000, spread: 0.2, latencyMs: 200 };

/** The smallest concurrency that keeps all machines busy: a run also holds its slot while requests travel. */
const usefulOn = ({ machines, runMs, latencyMs = 100 }: ServiceShape): number =>
  Math.ceil(machines * (1 + (2 * latencyMs) / runMs));

/** Lets so many run times pass; the caps after each of them. */
const capsIn = (service: Machines, times: number, runMs: number): readonly number[] =>
  Array.from({ length: times }, () => {
    service.pass(runMs);
    return service.cap;
  });

/** The caps that differ by more than a fifth from the useful one. */
const farFrom = (useful: number, caps: readonly number[]): readonly number[] =>
  caps.filter((cap) => Math.abs(cap - useful) > Math.max(1, 0.2 * useful));

const only = ({ state }: World | Machines): AdaptiveCap | undefined => state.lanes[0]?.adaptive;

describe('the concurrency that -c auto finds', () => {
  it.each([4, 12, 40].flatMap((machines) => [SERVICE, SHORT].map((shape) => ({ ...shape, machines }))))(
    'is within 20 % of the useful one on $machines machines with runs of $runMs ms, at 95 % of its throughput',
    (shape) => {
      const useful = usefulOn(shape);
      const service = new Machines(shape, AUTO);
      const fixed = new Machines(shape, { concurrency: useful });
      for (const batch of [service, fixed]) batch.pass(30 * shape.runMs);
      expect(farFrom(useful, capsIn(service, 40, shape.runMs))).toEqual([]);
      const [own, ideal] = [service, fixed].map((batch) => batch.throughput(60 * shape.runMs)) as [
        number,
        number,
      ];
      expect(own / ideal).toBeGreaterThan(0.95);
      expect(service.log.length).toBeLessThan(4);
      expect(progress(service.state).useful).toEqual([{ concurrency: expect.any(Number), basis: 'found' }]);
    },
  );

  it('is the same if all runs take equally long, so that they end together', () => {
    const service = new Machines({ machines: 40, runMs: RUN_MS }, AUTO);
    service.pass(40 * RUN_MS);
    expect(farFrom(41, capsIn(service, 60, RUN_MS))).toEqual([]);
  });

  it('follows the machines in both directions', () => {
    const service = new Machines({ ...SERVICE, machines: 4 }, AUTO);
    service.pass(40 * RUN_MS);
    for (const machines of [40, 6]) {
      service.machines = machines;
      service.serve();
      service.pass(50 * RUN_MS);
      expect(farFrom(usefulOn({ ...SERVICE, machines }), capsIn(service, 40, RUN_MS))).toEqual([]);
    }
    expect(service.log.length).toBeLessThan(8);
    expect(service.log.at(-1)).toMatch(/^useful concurrency on the default GPU: \d+, before \d+$/);
  });

  it('grows while machines start, although the first runs wait for them', () => {
    const service = new Machines({ ...SERVICE, provisionMs: 60_000, machines: 40 }, AUTO);
    const caps = capsIn(service, 60, RUN_MS);
    const top = caps.indexOf(Math.max(...caps));
    expect(caps.slice(0, top)).toEqual(caps.slice(0, top).toSorted((a, b) => a - b));
    expect(Math.max(...caps)).toBeGreaterThan(40);
  });

  it('is found even if every run starts a machine, from what it waits longer than the shortest wait', () => {
    const service = new Machines({ ...SERVICE, isAlwaysCold: true, machines: 12 }, AUTO);
    service.pass(60 * RUN_MS);
    expect(farFrom(12, capsIn(service, 60, RUN_MS))).toEqual([]);
  });

  it('is half of itself after a 429, returns to what the service holds, and stays there for a while', () => {
    const shape = { ...SERVICE, provisionMs: 0, bootMs: 0, machines: 100, quota: 20 };
    const service = new Machines(shape, AUTO);
    const fixed = new Machines(shape, { concurrency: 20 });
    for (const batch of [service, fixed]) batch.pass(20 * RUN_MS);
    const caps = capsIn(service, 100, RUN_MS);
    expect(Math.max(...caps)).toBeLessThanOrEqual(21);
    expect(Math.min(...caps)).toBe(10);
    expect(service.throughput(80 * RUN_MS) / fixed.throughput(80 * RUN_MS)).toBeGreaterThan(0.9);
    expect(progress(service.state).useful).toEqual([{ concurrency: 20, basis: 'found' }]);
    expect(service.log).toEqual(['useful concurrency on the default GPU: 20']);
  });

  it('is not halved by a 429 for a group that was sent before the cap last changed', () => {
    const { state } = new Machines({ ...SERVICE, machines: 4 }, { concurrency: 64, adaptive: 8 });
    const [lane] = state.lanes;
    if (lane === undefined) throw new Error('no lane');
    noteThrottled(state, lane, state.now);
    expect(capOf(state, lane)).toBe(4);
    delete lane.adaptive?.isHalved;
    noteThrottled(state, lane, state.now - 1);
    expect(capOf(state, lane)).toBe(4);
  });

  it('never exceeds the given concurrency, and does not grow while another limit keeps the batch below it', () => {
    const limited = new Machines({ ...SERVICE, machines: 40 }, { concurrency: 10, adaptive: 4 });
    expect(Math.max(...capsIn(limited, 60, RUN_MS))).toBe(10);
    const slow = new Machines({ ...SERVICE, machines: 40 }, { ...AUTO, startsPerMinute: 6 });
    expect(Math.max(...capsIn(slow, 60, RUN_MS))).toBe(4);
  });

  it('is never above its start if the service shows no queueing times, and says so', () => {
    const service = new Machines({ ...SERVICE, machines: 40, hidesTimes: true }, AUTO);
    expect(progress(service.state).useful).toEqual([{ concurrency: 4, basis: 'searching' }]);
    expect(capsIn(service, 60, RUN_MS).every((cap) => cap === 4)).toBe(true);
    expect(progress(service.state).useful).toEqual([{ concurrency: 4, basis: 'untimed' }]);
  });

  it('recovers to its start after a 429 of a service that shows no queueing times', () => {
    const shape = { ...SERVICE, provisionMs: 0, bootMs: 0, machines: 40, hidesTimes: true, quota: 8 };
    const service = new Machines(shape, { concurrency: 256, adaptive: 10 });
    const caps = capsIn(service, 100, RUN_MS);
    expect(Math.min(...caps)).toBeLessThan(6);
    expect(caps.slice(20).filter((cap) => cap > 10)).toEqual([]);
    expect(Math.max(...caps.slice(20))).toBeGreaterThanOrEqual(8);
  });
});

const QUICK: RunTimes = [0, 0, 1_000];

/** A batch whose runs show these times. */
function timed(times: RunTimes, params: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World({ rows: 500, concurrency: 64, adaptive: 4, retries: 0, ...params });
  world.edit = (event) =>
    event.type === 'runsCompleted'
      ? {
          ...event,
          completions: event.completions.map((end) => ({ ...end, times })),
        }
      : event;
  return world;
}

function endAll(world: World): void {
  world.pass(1);
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  const open = world.service.runs.filter(({ status }) => status === 'open');
  for (const { runId } of open) world.finish(runId, 'succeeded');
}

describe('a round of -c auto', () => {
  it('counts only runs that were accepted after the cap last changed', () => {
    const world = timed(QUICK);
    world.answer(0, ['accepted']);
    world.pass(1_000);
    endAll(world);
    expect(only(world)).toMatchObject({ cap: 8, ends: 0 });
    const [old] = world.state.lanes;
    expect(old?.outstanding).toBe(8);
  });

  it('halves the cap once for all groups of one round, also before any run has ended', () => {
    const world = timed(QUICK, { adaptive: 40 });
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([32, 8]);
    world.answer(0, ['accepted', 'throttled']);
    world.pass(1);
    world.answer(0, ['throttled']);
    expect(only(world)).toMatchObject({ cap: 20, knee: 16, isHalved: true });
    world.pass(60_000);
    while (world.sends.length > 0) world.answer(0, ['throttled']);
    expect(only(world)?.cap).toBe(20);
    world.finish('run-0', 'succeeded');
    expect(only(world)?.isHalved).toBe(true);
  });

  it('is not confused by runs without times where others have them, nor by the end of one unconfirmed for long', () => {
    const world = timed(QUICK);
    world.answer(0, ['accepted', 'lost']);
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    world.finish('run-1', 'succeeded');
    expect(only(world)).toMatchObject({ ends: 2, isTimed: true });
    world.edit = (event) => event;
    const { place, attempt, runId } = world.service.runs[2] ?? { place: 0, attempt: 0, runId: '' };
    const completions = [{ place, attempt, runId, outcome: 'cancelled' as const }];
    world.apply({ type: 'runsCompleted', by: 'webhook', completions });
    expect(only(world)?.ends).toBe(2);
  });

  it('finds each GPU its own', () => {
    const lanes = [
      { gpu: 'H100', places: 50 },
      { gpu: 'A10G', places: 50 },
    ];
    const world = timed(QUICK, { lanes, rows: 100, gpuConcurrency: { H100: 5 } });
    endAll(world);
    endAll(world);
    expect(progress(world.state).useful).toEqual([
      { gpu: 'H100', concurrency: 5, basis: 'searching' },
      { gpu: 'A10G', concurrency: 16, basis: 'searching' },
    ]);
  });

  it('pauses for unconfirmed attempts that hold half of the slots in use', () => {
    const world = timed(QUICK, { lists: false, unconfirmed: { rule: 'unknown', afterMs: 1e9 } });
    world.answer(0, ['lost']);
    world.read('none');
    world.passUnread(40_000);
    expect([...world.state.pauses.values()].map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^4 of 4 slots/),
    ]);
  });
});

describe('scale and -c auto', () => {
  it('turns it on from the concurrency in force, and a number turns it off', () => {
    const world = timed(QUICK, {});
    endAll(world);
    world.apply({ type: 'scale', commandId: 'off', limits: { concurrency: 20 } });
    expect([only(world), progress(world.state).useful]).toEqual([undefined, undefined]);
    world.apply({ type: 'scale', commandId: 'on', limits: { concurrency: 256, adaptive: true } });
    expect(progress(world.state).useful).toEqual([{ concurrency: 20, basis: 'searching' }]);
    world.apply({ type: 'scale', commandId: 'less', limits: { concurrency: 8, adaptive: true } });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    world.apply({ type: 'scale', commandId: 'other', limits: { retries: 1 } });
    expect(world.state.params.adaptive).toBe(8);
    expect(world.state.acknowledgements.map(({ note }) => note)).toEqual([
      'concurrency auto, at most 64 → 20',
      'concurrency 20 → auto, at most 256',
      expect.stringMatching(/^concurrency auto, at most 256 → auto, at most 8/),
      expect.stringContaining('retries 0 → 1'),
    ]);
  });

  it('refuses what is no choice', () => {
    const world = timed(QUICK);
    world.apply({ type: 'scale', commandId: 'x', limits: { adaptive: false as unknown as true } });
    expect(world.state.acknowledgements).toEqual([
      { id: 'x', ok: false, note: 'adaptive cannot be set to this value' },
    ]);
  });
});
