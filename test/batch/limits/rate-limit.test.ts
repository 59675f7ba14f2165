import { describe, expect, it } from 'vitest';
import { FREE } from '../../../src/batch/limits/limit.ts';
import {
  adaptRate,
  rateLimit,
  spendRate,
  RATE_GAP_FIRST_MS,
  RATE_GAP_MAX_MS,
} from '../../../src/batch/limits/rate-limit.ts';
import { NO_LIMIT } from '../../../src/batch/state/state.ts';
import { begin } from '../../../src/batch/state/begin.ts';
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
    expect(state.rateLimit.gapMs).toBe(RATE_GAP_MAX_MS);
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
    const throttled = first?.attempts.map((one) => ({
      ...one,
      result: 'throttled' as const,
      retryAfterMs: 0,
    }));
    const accepted = second?.attempts.map((one) => ({
      ...one,
      result: 'accepted' as const,
      runId: `r${one.place}`,
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
