// Polls one run every second in a simulation where the service's clock is wrong, is changed, or is unknown.

import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  MAX_MISSING_MS,
  NOT_OBSERVED,
  observe,
  MIN_QUIET_MS,
  type Deadlines,
  type Observation,
  type Report,
  type Sight,
} from '../../src/service-client/observation.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NOW = Date.parse('2026-11-21T10:00:00Z');
const DEADLINES = { queueMs: HOUR_MS, runMs: 10 * MINUTE_MS };

type RunSight = Extract<Sight, { kind: 'run' }>;
type ShownCall = RunSight['run'];

/** Simulation times come from a correct clock, in milliseconds since the first poll. */
type World = {
  /** The error of the service's clock at a time; undefined: the service sends no time. */
  readonly offsetAt?: (ms: number) => number | undefined;
  readonly shownAt: (ms: number, clock: (ms: number) => number) => ShownCall | 'missing' | 'unread';
  /** How long the batch has known the run at the first poll. */
  readonly ageMs?: number;
  readonly deadlines?: Deadlines;
  readonly everyMs?: number;
};

type Observed = { readonly at: number; readonly report: Report };

/** The first report of a poll within a time, and when it comes. */
function watch(forMs: number, world: World): readonly Observed[] {
  const { offsetAt = () => 0, shownAt, ageMs = 0, deadlines = DEADLINES, everyMs = 1_000 } = world;
  const observed: Observed[] = [];
  let observation: Observation = NOT_OBSERVED;
  for (let at = 0; at <= forMs; at += everyMs) {
    const offset = offsetAt(at);
    // A timestamp contains the clock's error at that time.
    const stamp = (ms: number): number => NOW + ms + (offsetAt(ms) ?? 0);
    const run = shownAt(at, stamp);
    const serviceNowMs = offset === undefined ? undefined : NOW + at + offset;
    const sight: Sight = typeof run === 'string' ? { kind: run } : { kind: 'run', run, serviceNowMs };
    const look = { sinceLastMs: at === 0 ? 0 : everyMs, ageMs: ageMs + at, deadlines };
    const { after, report } = observe(observation, sight, look);
    observation = after;
    if (report !== undefined) observed.push({ at, report });
  }
  return observed;
}

const run = (more: Partial<ShownCall> = {}): ShownCall => ({
  status: 'running',
  progress: 0,
  liveStatus: undefined,
  endedAtMs: undefined,
  createdAtMs: undefined,
  startedAtMs: undefined,
  updatedAtMs: undefined,
  ...more,
});

/** Created at `from`, and makes progress regularly. */
const working =
  (everyMs: number, from = 0) =>
  (ms: number, clock: (ms: number) => number): ShownCall =>
    run({
      createdAtMs: clock(from),
      startedAtMs: clock(from),
      updatedAtMs: clock(from + Math.floor((ms - from) / everyMs) * everyMs),
    });
/** Started at `from`, without progress since then. */
const stuck =
  (from = 0) =>
  (_: number, clock: (ms: number) => number): ShownCall =>
    run({ createdAtMs: clock(from), startedAtMs: clock(from), updatedAtMs: clock(from) });
const waiting =
  (from = 0) =>
  (_: number, clock: (ms: number) => number): ShownCall =>
    run({ status: 'queued', createdAtMs: clock(from) });

const CLOCKS: readonly (readonly [string, World['offsetAt']])[] = [
  ['is right', () => 0],
  ['is an hour behind', () => -HOUR_MS],
  ['is an hour ahead', () => HOUR_MS],
  ['is set back by two hours', (ms) => (ms < 5 * MINUTE_MS ? 0 : -2 * HOUR_MS)],
  ['is set ahead by two hours', (ms) => (ms < 5 * MINUTE_MS ? 0 : 2 * HOUR_MS)],
  ['differs with every answer', (ms) => (Math.floor(ms / 1_000) % 2 === 0 ? HOUR_MS : -HOUR_MS)],
  ['is unknown', () => undefined],
];

describe.each(CLOCKS)('a service whose clock %s', (_, offsetAt = () => 0) => {
  it('never makes a run that makes progress look stuck', () => {
    expect(watch(3 * HOUR_MS, { offsetAt, shownAt: working(20_000) })).toEqual([]);
  });

  it('never makes a run that is younger than its deadline overdue', () => {
    expect(watch(10 * MINUTE_MS, { offsetAt, shownAt: stuck() })).toEqual([]);
    expect(watch(HOUR_MS, { offsetAt, shownAt: waiting() })).toEqual([]);
  });
});

describe.each(CLOCKS.filter(([name]) => !/set back/.test(name)))(
  'a run that shows nothing new, of a service whose clock %s',
  (_, offsetAt = () => 0) => {
    it('is overdue soon after its deadline, and not earlier', () => {
      const [first] = watch(15 * MINUTE_MS, { offsetAt, shownAt: stuck() });
      expect(first?.report).toEqual({ kind: 'overdue', reason: 'the run made no progress for 10 min' });
      expect(first?.at).toBeGreaterThan(10 * MINUTE_MS);
      expect(first?.at).toBeLessThanOrEqual(10 * MINUTE_MS + 2_000);
    });
  },
);

describe('a run', () => {
  afterEach(() => void vi.useRealTimers());

  it.each([-5 * HOUR_MS, 5 * HOUR_MS])(
    'that shows something new once a minute is never overdue, though our own clock is off by %i ms',
    (offMs) => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOW + offMs });
      expect(watch(HOUR_MS, { shownAt: working(MINUTE_MS), ageMs: 5 * HOUR_MS })).toEqual([]);
    },
  );

  it('that waits for a machine is overdue by the queue deadline, not by the run deadline', () => {
    const [first] = watch(2 * HOUR_MS, { shownAt: waiting() });
    expect(first).toEqual({
      at: HOUR_MS + 1_000,
      report: { kind: 'overdue', reason: 'the run did not start within 1 h' },
    });
  });

  it('that moves up in its queue is overdue by the queue deadline too', () => {
    const moving = (ms: number, clock: (ms: number) => number): ShownCall => ({
      ...waiting()(ms, clock),
      liveStatus: `behind ${HOUR_MS - ms} runs`,
    });
    const [first] = watch(HOUR_MS + MINUTE_MS, { shownAt: moving });
    expect(first?.report).toEqual({ kind: 'overdue', reason: 'the run did not start within 1 h' });
  });

  it('is never overdue without a deadline', () => {
    for (const shownAt of [stuck(), waiting()])
      expect(watch(3 * HOUR_MS, { shownAt, deadlines: {} })).toEqual([]);
  });

  it('that was known for long is observed for half a minute before it is overdue', () => {
    const old = { shownAt: stuck(-5 * HOUR_MS), ageMs: 5 * HOUR_MS };
    expect(watch(HOUR_MS, old)[0]?.at).toBe(MIN_QUIET_MS);
    // Without the service's time, the run is observed for the whole deadline.
    const silent = { ...old, offsetAt: () => undefined };
    expect(watch(HOUR_MS, silent)[0]?.at).toBe(10 * MINUTE_MS + 1_000);
  });

  it.each(['liveStatus', 'progress', 'status'] as const)(
    'that shows another %s is watched anew, although nothing dates it',
    (field) => {
      const values = { liveStatus: ['a', 'b'], progress: [0.1, 0.2], status: ['running', 'uploading'] };
      const shownAt = (ms: number): ShownCall => {
        const nth = Math.floor(ms / 20_000) % 2;
        return run({ startedAtMs: NOW - 5 * HOUR_MS, [field]: values[field][nth] });
      };
      expect(watch(HOUR_MS, { shownAt, ageMs: 5 * HOUR_MS })).toEqual([]);
    },
  );

  it('that the service shows as timed out without an end time is overdue and not completed', () => {
    const observed = watch(3_000, { shownAt: () => run({ status: 'timeout' }) });
    expect(observed[0]).toEqual({
      at: 0,
      report: { kind: 'overdue', reason: 'the service does not know how the run has ended' },
    });
  });

  it('that failed says at which node', () => {
    const failed = run({ status: 'failed', liveStatus: 'node 3', endedAtMs: NOW });
    expect(watch(0, { shownAt: () => failed })).toEqual([
      { at: 0, report: { kind: 'completed', outcome: 'failed', reason: 'the run failed at: node 3' } },
    ]);
  });

  it('completes once, even if a later poll shows it as open or missing', () => {
    const shownAt = (ms: number) => {
      if (ms % 4_000 === 2_000) return run({ status: 'success', endedAtMs: NOW });
      return ms > 10_000 ? 'missing' : run();
    };
    expect(watch(5 * MINUTE_MS, { shownAt })).toEqual([
      { at: 2_000, report: { kind: 'completed', outcome: 'succeeded' } },
    ]);
  });
});

describe('a run that the service does not know', () => {
  const gone = {
    kind: 'completed',
    outcome: 'unknown',
    reason: 'the service no longer knows the run',
  };

  it('is reported once, after it was missing for a minute', () => {
    const observed = watch(5 * MINUTE_MS, { shownAt: () => 'missing' });
    expect(observed).toEqual([{ at: expect.closeTo(MAX_MISSING_MS, -4), report: gone }]);
  });

  it('is not reported while it reappears within every minute', () => {
    const shownAt = (ms: number) => (Math.floor(ms / 1_000) % 59 === 58 ? run() : 'missing');
    expect(watch(HOUR_MS, { shownAt, deadlines: {} })).toEqual([]);
  });

  it('is not reported while the service cannot be read, however long that takes', () => {
    const shownAt = (ms: number) => (ms < 30_000 ? 'missing' : 'unread');
    expect(watch(HOUR_MS, { shownAt })).toEqual([]);
  });

  it('is not overdue either', () => {
    const shownAt = (ms: number) => (ms < 1_000 ? run({ updatedAtMs: NOW - HOUR_MS }) : 'missing');
    expect(watch(50_000, { shownAt, ageMs: 5 * HOUR_MS })).toEqual([]);
  });
});
