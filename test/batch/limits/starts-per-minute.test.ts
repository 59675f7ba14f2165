import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FREE } from '../../../src/batch/limits/limit.ts';
import { spendStarts, startsPerMinute } from '../../../src/batch/limits/rate-limit.ts';
import { begin } from '../../../src/batch/state/begin.ts';
import { unsentPlaces } from '../../../src/batch/state/state.ts';
import { paramsOf } from '../params.ts';
import { World } from '../world.ts';

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
