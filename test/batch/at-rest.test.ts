import { describe, expect, it } from 'vitest';
import { endsOften, isAtRest, OFTEN_ENDS_PER_SECOND, REST_MOST_MS } from '../../src/batch/state/at-rest.ts';
import { begin } from '../../src/batch/state/begin.ts';
import type { State } from '../../src/batch/state/state.ts';
import { WRITES } from '../../src/batch/version.ts';
import { paramsOf } from './params.ts';

const stateWith = (running: number, usualRunMs: number): State => {
  const state = begin(paramsOf(), WRITES, 0);
  state.phases.running = running;
  state.usualRunMs = usualRunMs;
  return state;
};

describe('the runs of a batch end often', () => {
  it.each([
    { running: 200, usualRunMs: 100, often: true },
    { running: 50, usualRunMs: 2_000, often: false },
    { running: OFTEN_ENDS_PER_SECOND, usualRunMs: 1_000, often: true },
    { running: OFTEN_ENDS_PER_SECOND - 1, usualRunMs: 1_000, often: false },
    { running: 3_000, usualRunMs: REST_MOST_MS, often: true },
    { running: 3_000, usualRunMs: REST_MOST_MS + 1, often: false },
  ])('with $running runs of $usualRunMs ms: $often', ({ running, usualRunMs, often }) => {
    expect(endsOften(stateWith(running, usualRunMs))).toBe(often);
  });

  it('only once their time is known', () => {
    expect(endsOften(stateWith(200, 0))).toBe(false);
  });
});

describe('a batch is at rest', () => {
  it.each<[string, (state: State) => void]>([
    ['a run', (state) => (state.phases.running = 1)],
    ['a group', (state) => state.groups.set(1, { attempts: [], at: 0, wallAt: 0 })],
    ['a part', (state) => state.parts.set(1, [])],
    ['a cancel', (state) => state.cancelsInFlight.set(1, [])],
    ['evidence on its way', (state) => (state.keeping = 1)],
    ['log entries on their way', (state) => (state.loggingNow = 1)],
  ])('without %s', (_, make) => {
    const state = stateWith(0, 100);
    expect(isAtRest(state)).toBe(true);
    make(state);
    expect(isAtRest(state)).toBe(false);
  });
});
