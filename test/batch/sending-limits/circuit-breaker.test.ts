import { describe, expect, it } from 'vitest';
import { REASON_BYTES } from '../../../src/batch/bounds.ts';
import { CIRCUIT_OPENS_AFTER, UNREACHABLE_AFTER } from '../../../src/batch/sending-limits/circuit-breaker.ts';
import { HOLD_BASE_MS, MAX_HOLD_MS } from '../../../src/batch/sending-limits/send-backoff.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { World } from '../world.ts';

/** Ends the oldest group: none of its attempts could be sent. */
const failAll = (world: World, reason = 'connect ECONNREFUSED'): void => {
  const attempts = world.sends[0]?.attempts ?? [];
  world.end(attempts.map((attempt) => ({ ...attempt, result: 'not-sent', reason })));
};

/** A batch of two rows that is paused because none could be sent; one row probes. */
function unreachable(reason?: string): World {
  const world = new World({ rows: 2, concurrency: 1 });
  while (world.state.pauses.size === 0) {
    failAll(world, reason);
    world.pass(MAX_HOLD_MS);
  }
  return world;
}

describe('circuit breaker', () => {
  it('a batch that could send nothing waits twice as long each time, shows the reason, and recovers with the first accepted run', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    failAll(world);
    expect(world.waitMs).toBe(HOLD_BASE_MS);
    world.pass(HOLD_BASE_MS);
    failAll(world);
    expect(world.waitMs).toBe(2 * HOLD_BASE_MS);
    expect(progress(world.state)).toMatchObject({ state: 'running', reason: 'connect ECONNREFUSED' });
    world.pass(2 * HOLD_BASE_MS);
    world.answer(0, ['accepted']);
    expect(progress(world.state).reason).toBeUndefined();
    expect(world.state.consecutiveFailures).toBe(0);
  });

  it('a batch that could send nothing keeps as much of the reason as fits', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    failAll(world, 'x'.repeat(5_000));
    expect(world.state.trouble).toHaveLength(REASON_BYTES);
  });

  it('a batch that could send nothing opens its circuit: only one attempt is in flight at a time', () => {
    const world = new World({ rows: 200, concurrency: 128 });
    for (let time = 0; time < CIRCUIT_OPENS_AFTER; time += 1) failAll(world);
    world.pass(MAX_HOLD_MS);
    expect(world.sends).toHaveLength(1);
    failAll(world);
    world.pass(MAX_HOLD_MS);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('a batch that could send nothing pauses as unreachable after a while, and resumes without the user', () => {
    const world = new World({ rows: 100, concurrency: 50 });
    const alone: number[] = [];
    let groups = 0;
    for (; progress(world.state).state === 'running'; groups += 1) {
      failAll(world);
      if (world.sends.length > 0) continue;
      world.pass(Math.min(MAX_HOLD_MS, world.waitMs));
      if (world.state.consecutiveFailures >= CIRCUIT_OPENS_AFTER)
        alone.push(world.sends.flatMap(({ attempts }) => attempts).length);
    }
    expect(new Set(alone.slice(0, -1))).toEqual(new Set([1]));
    expect(Math.abs(groups - UNREACHABLE_AFTER)).toBeLessThanOrEqual(1);
    expect(progress(world.state)).toMatchObject({
      state: 'paused',
      reason: 'nothing can be sent: connect ECONNREFUSED',
      ledger: { sent: 0 },
    });
    world.settle();
    expect(world.state.tally.outcomes.succeeded).toBe(100);
    expect(world.problems).toEqual([]);
  });

  it('a batch that could send nothing pauses with the seventh group in a row', () => {
    const world = new World({ rows: 2, concurrency: 1 });
    for (let group = 1; group <= UNREACHABLE_AFTER; group += 1) {
      expect(world.state.pauses.size).toBe(0);
      failAll(world);
      if (group < UNREACHABLE_AFTER) world.pass(MAX_HOLD_MS);
    }
    expect(UNREACHABLE_AFTER).toBe(7);
    expect(world.state.pauses.has('unreachable')).toBe(true);
  });

  it('a batch that could send nothing continues when the service rejects a row, because it is reachable again', () => {
    const world = unreachable();
    world.end([{ place: 1, attempt: 1, result: 'rejected' }]);
    expect(progress(world.state).state).toBe('running');
  });

  it('a batch that could send nothing reports that even without a reason', () => {
    const world = unreachable('');
    expect(progress(world.state).reason).toBe('nothing can be sent: no reason was given');
  });
});

describe('what is no failure to send', () => {
  it.each(['rejected', 'blocked'] as const)(
    'a group whose POSTs were all %s counts for nothing',
    (result) => {
      const world = new World({ rows: 4, concurrency: 2 });
      world.end((world.sends[0]?.attempts ?? []).map((attempt) => ({ ...attempt, result, reason: 'why' })));
      expect(world.state).toMatchObject({ consecutiveFailures: 0, holdUntil: 0 });
      expect(world.state.trouble).toBeUndefined();
    },
  );
});

describe('Retry-After', () => {
  it('a Retry-After is believed, and clipped where it is absurd', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.end([{ place: 1, attempt: 1, result: 'throttled', retryAfterMs: 10 ** 12 }]);
    expect(world.waitMs).toBe(600_000);
  });

  it('a Retry-After counts as a failure, also if others of the group need not wait', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.end([
      { place: 1, attempt: 1, result: 'throttled', retryAfterMs: 50 },
      { place: 2, attempt: 1, result: 'not-sent', retryAfterMs: 0 },
    ]);
    expect(world.state.consecutiveFailures).toBe(1);
  });

  it('of several Retry-After the longest counts, and the back-off for what named none', () => {
    const named = new World({ rows: 2, concurrency: 2 });
    named.end([
      { place: 1, attempt: 1, result: 'throttled', retryAfterMs: 50 },
      { place: 2, attempt: 1, result: 'throttled', retryAfterMs: 70 },
    ]);
    expect(named.waitMs).toBe(70);
    const mixed = new World({ rows: 2, concurrency: 2 });
    mixed.end([
      { place: 1, attempt: 1, result: 'throttled', retryAfterMs: 50 },
      { place: 2, attempt: 1, result: 'not-sent' },
    ]);
    expect(mixed.waitMs).toBe(HOLD_BASE_MS);
  });

  it('a Retry-After of nothing means no failure of the service: the rows go immediately', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.end([{ place: 1, attempt: 1, result: 'not-sent', retryAfterMs: 0 }]);
    expect(world.sends).toHaveLength(1);
    expect(world.state.consecutiveFailures).toBe(0);
  });
});
