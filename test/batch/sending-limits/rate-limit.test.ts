import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FREE } from '../../../src/batch/sending-limits/allowance.ts';
import {
  adaptRate,
  RATE_GAP_FIRST_MS,
  MAX_RATE_GAP_MS,
  rateLimit,
  spendRate,
  spendStarts,
  startsPerMinute,
} from '../../../src/batch/sending-limits/rate-limit.ts';
import { begin, NO_LIMIT, unsentPlaces } from '../../../src/batch/state/state.ts';
import { paramsOf } from '../params.ts';
import { World } from '../world.ts';

describe('rate limit', () => {
  it('the rate limit is none until the service throttles, doubles its gap each time, and goes step by step', () => {
    const state = begin(paramsOf(), 1, 0);
    adaptRate(state, false);
    expect([state.rateLimit, rateLimit(state)]).toEqual([NO_LIMIT, FREE]);
    for (let time = 0; time < 3; time += 1) adaptRate(state, true);
    expect(state.rateLimit.gapMs).toBe(4 * RATE_GAP_FIRST_MS);
    for (let time = 0; time < 30; time += 1) adaptRate(state, true);
    expect(state.rateLimit.gapMs).toBe(MAX_RATE_GAP_MS);
    let groups = 0;
    for (; state.rateLimit.gapMs > 0; groups += 1) adaptRate(state, false);
    expect(groups).toBe(31);
    expect(rateLimit(state)).toEqual(FREE);
  });

  it('the rate limit lets one attempt through each gap, and saves up no time that was not used', () => {
    const state = begin(paramsOf(), 1, 0);
    adaptRate(state, true);
    expect(rateLimit(state)).toEqual({ at: RATE_GAP_FIRST_MS, most: 1 });
    state.now = RATE_GAP_FIRST_MS;
    spendRate(state, 1);
    expect(rateLimit(state).at).toBe(2 * RATE_GAP_FIRST_MS);
    state.now += 3 * RATE_GAP_FIRST_MS;
    expect(rateLimit(state)).toEqual({ at: 2 * RATE_GAP_FIRST_MS, most: 3 });
    spendRate(state, 1);
    expect(rateLimit(state).at).toBe(state.now + RATE_GAP_FIRST_MS);
  });

  it('the rate limit is used up by every attempt of a group', () => {
    const state = begin(paramsOf(), 1, 0);
    adaptRate(state, true);
    state.now = 2 * RATE_GAP_FIRST_MS;
    spendRate(state, 5);
    expect(rateLimit(state).at).toBe(6 * RATE_GAP_FIRST_MS);
  });

  it('the rate limit costs nothing while there is none', () => {
    const state = begin(paramsOf(), 1, 0);
    spendRate(state, 32);
    expect(state.rateLimit).toEqual(NO_LIMIT);
  });

  it('the rate limit is shared by all groups, counts nothing against a row, and ends when the user resumes', () => {
    const world = new World({ rows: 100, concurrency: 64 });
    const [first, second] = world.sends;
    const throttled = first?.attempts.map((attempt) => ({
      ...attempt,
      result: 'throttled' as const,
      retryAfterMs: 0,
    }));
    const accepted = second?.attempts.map((attempt) => ({
      ...attempt,
      result: 'accepted' as const,
      runId: `r${attempt.place}`,
    }));
    world.end(throttled ?? []);
    world.end(accepted ?? []);
    expect(world.sends).toEqual([]);
    expect(world.waitMs).toBe(RATE_GAP_FIRST_MS);
    world.pass(RATE_GAP_FIRST_MS);
    expect(world.sends.map(({ attempts }) => attempts)).toEqual([[{ place: 1, attempt: 1 }]]);
    expect(world.state.rows.get(1)).toMatchObject({ tries: 0, past: [] });
    world.apply({ type: 'resume' });
    expect(world.sends.flatMap(({ attempts }) => attempts)).toHaveLength(32);
  });
});

/** When attempts start, if as many as possible start as soon as possible, with pauses between. */
function startsOf(most: number, waits: readonly number[]): readonly number[] {
  const state = begin(paramsOf({ startsPerMinute: most }), 1, 0);
  const starts: number[] = [];
  for (const waitMs of waits) {
    state.now = Math.max(state.now + waitMs, startsPerMinute(state).at);
    const count = startsPerMinute(state).most;
    for (let attempt = 0; attempt < count; attempt += 1) starts.push(state.now);
    spendStarts(state, count);
  }
  return starts;
}

describe('a limit of starts per minute', () => {
  it('is none unless the user sets one', () => {
    const state = begin(paramsOf(), 1, 0);
    spendStarts(state, 5);
    expect(startsPerMinute(state)).toEqual(FREE);
  });

  it('holds in every minute, however the starts are spread', () => {
    const waits = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90_000 })), {
      minLength: 5,
      maxLength: 60,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6_000 }), waits, (most, pauses) => {
        const starts = startsOf(most, pauses);
        for (const from of starts) {
          const within = starts.filter((at) => at >= from && at < from + 60_000).length;
          expect(within).toBeLessThanOrEqual(most);
        }
      }),
    );
  });

  it('lets nearly that many start in a minute', () => {
    const starts = startsOf(600, Array<number>(200).fill(0));
    expect(starts.filter((at) => at < 60_000).length).toBeGreaterThan(580);
  });

  it('counts every attempt of a batch', () => {
    const world = new World({ rows: 500, concurrency: 500, startsPerMinute: 120 });
    for (let second = 0; second < 60; second += 1) {
      while (world.sends.length > 0) world.answer(0, ['accepted']);
      world.pass(1_000);
    }
    const started = 500 - unsentPlaces(world.state);
    expect(started).toBeGreaterThan(110);
    expect(started).toBeLessThanOrEqual(121);
  });
});
