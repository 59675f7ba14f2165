import { describe, expect, it } from 'vitest';
import { CLOCK_IDLE_MS, CLOCK_SLACK_MS } from '../../src/batch/bounds.ts';
import {
  advanceClock,
  latestWakeAt,
  noteServiceTime,
  readBack,
  CLOCK_DOUBT_MS,
} from '../../src/batch/clock.ts';
import { NEVER } from '../../src/batch/decisions/decision.ts';
import { PUBLISH_MS } from '../../src/batch/decisions/publish.ts';
import { MAX_RECONCILE_MS } from '../../src/batch/on-event/list-read.ts';
import { step } from '../../src/batch/step.ts';
import { begin, type State } from '../../src/batch/state/state.ts';
import { PROBE_MS } from '../../src/batch/pausing/pauses.ts';
import { paramsOf, TIMING } from './params.ts';
import { PROOF_MS, readUntilResolved, running, unconfirmed } from './scenes.ts';
import { World } from './world.ts';

const DAY_MS = 86_400_000;

/** A state that asked to be woken after this time. */
function wokenAfter(ms: number): State {
  const state = begin(paramsOf(), 1, 1_000);
  state.wakeAt = state.now + ms;
  return state;
}

describe('clock', () => {
  it("the batch's clock runs with Temporal's up to the moment for which the batch wanted to be woken, and a little beyond", () => {
    for (const ms of [0, 1, 59_999, 60_000, 60_000 + CLOCK_SLACK_MS]) {
      const state = wokenAfter(60_000);
      advanceClock(state, 1_000 + ms);
      expect(state.now).toBe(1_000 + ms);
    }
  });

  it("the batch's clock counts a longer time as a second: the clock was set, or the server was down", () => {
    for (const ms of [60_001 + CLOCK_SLACK_MS, DAY_MS]) {
      const state = wokenAfter(60_000);
      advanceClock(state, 1_000 + ms);
      expect(state.now).toBe(1_000 + CLOCK_DOUBT_MS);
      expect(state.wallAt).toBe(1_000 + ms);
    }
  });

  it("the batch's clock stands still where the time was set back, and runs on from there", () => {
    const state = wokenAfter(60_000);
    advanceClock(state, 1_000 - DAY_MS);
    expect(state.now).toBe(1_000);
    advanceClock(state, 1_500 - DAY_MS);
    expect(state.now).toBe(1_500);
  });

  it('a change of the time may hide how far the time of the service is away, so that lists are read back further', () => {
    const forward = wokenAfter(1_000);
    noteServiceTime(forward, 5_000);
    advanceClock(forward, 1_000 + DAY_MS);
    expect(forward.serviceOffset).toEqual({ min: 4_000 - DAY_MS, max: 4_000 });
    const back = wokenAfter(1_000);
    noteServiceTime(back, 5_000);
    advanceClock(back, 1_000 - DAY_MS);
    expect(back.serviceOffset).toEqual({ min: 4_000, max: 4_000 + DAY_MS });
    advanceClock(back, 1_500 - DAY_MS);
    expect(back.serviceOffset).toEqual({ min: 4_000, max: 4_000 + DAY_MS });
    const unknown = wokenAfter(1_000);
    advanceClock(unknown, 1_000 + DAY_MS);
    expect(unknown.serviceOffset).toBeUndefined();
  });

  it("the batch's clock believes ten minutes of a batch that waits for nothing but events, and no more", () => {
    const state = wokenAfter(Number.POSITIVE_INFINITY);
    advanceClock(state, 1_000 + CLOCK_IDLE_MS + CLOCK_SLACK_MS);
    expect(state.now).toBe(1_000 + CLOCK_IDLE_MS + CLOCK_SLACK_MS);
    advanceClock(state, state.wallAt + CLOCK_IDLE_MS + CLOCK_SLACK_MS + 1);
    expect(state.now).toBe(1_000 + CLOCK_IDLE_MS + CLOCK_SLACK_MS + CLOCK_DOUBT_MS);
  });

  it("the batch's clock does not believe a moment that was due long ago", () => {
    const state = wokenAfter(-5_000);
    advanceClock(state, 1_001 + CLOCK_SLACK_MS);
    expect(state.now).toBe(1_000 + CLOCK_DOUBT_MS);
  });
});

describe('set clocks', () => {
  it.each([DAY_MS, CLOCK_IDLE_MS, PROOF_MS])(
    "a server's clock that is set by %i ms while lists are read proves no run absent",
    (ms) => {
      const world = unconfirmed();
      for (let set = 0; set < 3; set += 1) {
        // Nothing waits to be published.
        world.pass(PUBLISH_MS);
        world.jump(ms);
        world.read('complete');
      }
      expect(world.state.ledger.absent).toBe(0);
      readUntilResolved(world);
      expect(world.state.ledger.absent).toBe(1);
    },
  );

  it("a server's clock that leaps within each wait proves no run absent before the service's clock shows the time", () => {
    const world = unconfirmed();
    let serviceNowMs = 0;
    world.edit = (event) =>
      event.type === 'listRead' ? { ...event, reading: { ...event.reading, serviceNowMs } } : event;
    const leap = (): void => {
      world.read();
      world.jump(world.state.wakeAt - world.state.now);
    };
    for (let leaps = 0; leaps < 200; leaps += 1) leap();
    expect(world.state.ledger.absent).toBe(0);
    // The service's clock has passed the time of the proof, in steps that are no leap.
    for (; serviceNowMs < PROOF_MS + CLOCK_SLACK_MS; serviceNowMs += TIMING.listGapMs) leap();
    expect(world.state.ledger.absent).toBe(1);
  });

  it("a service's clock that leaps while the batch continues as new is no time that has passed", () => {
    const world = unconfirmed();
    let serviceNowMs = 1;
    world.edit = (event) =>
      event.type === 'listRead' ? { ...event, reading: { ...event.reading, serviceNowMs } } : event;
    world.read();
    world.continueAsNew();
    serviceNowMs = DAY_MS;
    for (let leaps = 0; leaps < 200; leaps += 1) {
      world.read();
      world.jump(world.state.wakeAt - world.state.now);
    }
    expect(world.state.ledger.absent).toBe(0);
  });

  it('a batch wakes often during a reading of the lists, and after a while as often as it reads them', () => {
    const { state } = unconfirmed();
    state.unclearSince = undefined;
    const waits = [];
    for (let wakes = 0; wakes < 12; wakes += 1) {
      waits.push(latestWakeAt(state) - state.now);
      step(state, [{ type: 'woke' }], state.wallAt + (waits.at(-1) ?? 0));
    }
    const { listGapMs } = state.params.timing;
    expect(waits.slice(0, 2)).toEqual([listGapMs, listGapMs]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBe(MAX_RECONCILE_MS);
    state.phases.unconfirmed = 0;
    expect(latestWakeAt(state)).toBe(NEVER);
  });

  it('a batch of version 4 wakes during no reading, because its history has no such timer', () => {
    const { state } = unconfirmed();
    expect(latestWakeAt({ ...state, version: 4 })).toBe(NEVER);
  });

  it("a batch whose server's clock is set sends its probe as long after the clock was set back as it would have without", () => {
    const world = new World({ rows: 2, concurrency: 1 });
    world.answer(0, ['blocked']);
    world.pass(5_000);
    world.jump(-DAY_MS);
    world.pass(PROBE_MS - 5_001);
    expect(world.sends).toEqual([]);
    world.pass(1);
    expect(world.sends).toHaveLength(1);
  });

  it('a clock that was set forward repeats no row earlier than a second later', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'failed');
    const { waitMs } = world;
    expect(waitMs).toBeLessThanOrEqual(CLOCK_DOUBT_MS);
    world.continueAsNew();
    world.jump(DAY_MS);
    world.pass(2_000);
    expect(world.sends.map(({ attempts }) => attempts)).toEqual([[{ place: 1, attempt: 2 }]]);
  });
});

describe('service time', () => {
  it("the service's time is remembered as its least and greatest distance from Temporal's", () => {
    const state = begin(paramsOf(), 1, 1_000);
    noteServiceTime(state, 1_500);
    expect(state.serviceOffset).toEqual({ min: 500, max: 500 });
    noteServiceTime(state, 900);
    state.wallAt = 2_000;
    noteServiceTime(state, 2_100);
    expect(state.serviceOffset).toEqual({ min: -100, max: 500 });
  });

  it("the service's time is learned when the batch starts, and with every group", () => {
    const world = new World({ rows: 1, concurrency: 1 });
    expect(world.state.serviceOffset).toBeUndefined();
    world.apply({ type: 'started' });
    world.apply({ type: 'started', serviceNowMs: world.wallAt + 7 });
    expect(world.state.serviceOffset).toEqual({ min: 7, max: 7 });
    const [send] = world.sends;
    const { wallAt } = world;
    world.apply({
      type: 'groupEnded',
      group: send?.group ?? 0,
      results: [],
      rest: 'unconfirmed',
      serviceNowMs: wallAt - 3,
    });
    expect(world.state.serviceOffset).toEqual({ min: -3, max: 7 });
  });
});

describe('readBack', () => {
  const sent = { at: 1_000, wallAt: 1_000 };

  it('the distance to read back is the longer one of the two clocks', () => {
    const state = begin(paramsOf(), 1, 1_000);
    Object.assign(state, { now: 4_000, wallAt: 3_000 });
    expect(readBack(state, sent)).toEqual({ agoMs: 3_000, wallAt: 3_000 });
    Object.assign(state, { now: 2_000, wallAt: DAY_MS });
    expect(readBack(state, sent)).toEqual({ agoMs: DAY_MS - 1_000, wallAt: DAY_MS });
  });

  it("the distance to read back is never negative, and comes with the service's distance from Temporal's time", () => {
    const state = begin(paramsOf(), 1, 1_000);
    noteServiceTime(state, 1_500);
    Object.assign(state, { wallAt: 10 });
    expect(readBack(state, sent)).toEqual({ agoMs: 0, wallAt: 10, offset: { min: 500, max: 500 } });
  });
});
