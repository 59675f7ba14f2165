// The lanes of a batch: which rows are sent next if rows ask for several GPUs.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addSegments,
  LANE_PLACES,
  laneOf,
  neverSentIn,
  numberOf,
  placeIn,
  unsentIn,
} from '../../src/batch/state/lanes.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { World } from './world.ts';

const T4 = 0;
const H100 = 1;
const lanes = (t4: number, h100: number): Pick<BatchParams, 'rows' | 'lanes'> => ({
  rows: t4 + h100,
  lanes: [
    { gpu: 'T4', places: t4 },
    { gpu: 'H100', places: h100 },
  ],
});

/** How many rows of each lane are outstanding. */
const outstanding = ({ state }: World): readonly number[] => state.lanes.map((lane) => lane.outstanding);

describe('places', () => {
  it('name a lane and a position in it', () => {
    fc.assert(
      fc.property(fc.nat({ max: 63 }), fc.integer({ min: 1, max: LANE_PLACES - 1 }), (lane, number) => {
        const place = placeIn(lane, number);
        expect([laneOf(place), numberOf(place)]).toEqual([lane, number]);
      }),
    );
  });

  it('are row numbers in the first lane', () => {
    expect([1, 500, 1_000_000].map((row) => placeIn(0, row))).toEqual([1, 500, 1_000_000]);
  });
});

describe('a large batch in seven lanes whose rows are all sent again three times', () => {
  const GPUS = ['T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB', 'H100'];
  const PAGE = 5_000;
  /** The bytes of the lanes in a snapshot. */
  const bytesFor = (places: number): number => {
    const { state } = new World({
      rows: 7 * places,
      lanes: GPUS.map((gpu) => ({ gpu, places })),
      concurrency: 1,
    });
    for (let pass = 1; pass <= 3; pass += 1) {
      const begin = Math.ceil(places / PAGE) * PAGE * pass;
      for (let done = 0; done < places; done += PAGE)
        addSegments(
          state.lanes,
          GPUS.map((_, lane) => ({ lane, first: begin + done + 1, count: Math.min(PAGE, places - done) })),
        );
    }
    expect(state.lanes.map(unsentIn).reduce((sum, count) => sum + count, 0)).toBe(28 * places - 1);
    return JSON.stringify(state.lanes.map(({ segments }) => segments.map(Object.values))).length;
  };

  it('has a snapshot as large as that of a small one', () => {
    expect(bytesFor(142_858) - bytesFor(1_429)).toBeLessThan(1_000);
  });
});

describe('lanes', () => {
  it('are sent together, each as far as its share of the rows that are left', () => {
    const world = new World({ ...lanes(300, 100), concurrency: 8 });
    expect(outstanding(world)).toEqual([6, 2]);
  });

  it('have their own limits, and a full lane does not hold back another', () => {
    const world = new World({ ...lanes(300, 100), concurrency: 20, gpuConcurrency: { T4: 3 } });
    expect(outstanding(world)).toEqual([3, 17]);
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it('wait with their own retries: a row that waits in a full lane does not stop the others', () => {
    const world = new World({ ...lanes(2, 50), concurrency: 10, gpuConcurrency: { T4: 1 } });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    const onT4 = world.service.runs.find(({ place }) => laneOf(place) === T4);
    world.finish(onT4?.runId ?? '', 'failed');
    // The second row of the lane takes its slot, and the first one waits for it.
    world.pass(60_000);
    expect(outstanding(world)).toEqual([1, 9]);
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    const onH100 = world.service.runs.find(
      ({ place, status }) => laneOf(place) === H100 && status === 'open',
    );
    world.finish(onH100?.runId ?? '', 'succeeded');
    expect(world.sends.flatMap(({ attempts }) => attempts).map(({ place }) => laneOf(place))).toEqual([H100]);
  });

  it('end at the same time if no limit prevents it', () => {
    const world = new World({ ...lanes(30, 90), concurrency: 4 });
    const left: number[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      while (world.sends.length > 0) world.answer(0, ['accepted']);
      const open = world.service.runs.find(({ status }) => status === 'open');
      world.finish(open?.runId ?? '', 'succeeded');
      left.push(neverSentIn(world.state.lanes[T4] as never));
    }
    const [t4 = 0, h100 = 0] = world.state.lanes.map(neverSentIn);
    expect(t4).toBeLessThanOrEqual(6);
    expect(h100).toBeLessThanOrEqual(18);
    expect(left[50]).toBeGreaterThan(10);
  });

  it('give every row one outcome, whatever the limits are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (t4, h100, concurrency, capT4, capH100) => {
          const gpuConcurrency = { T4: capT4, H100: capH100 };
          const world = new World({ ...lanes(t4, h100), concurrency, gpuConcurrency });
          world.settle();
          expect(world.problems).toEqual([]);
          expect(world.state.tally.outcomes.succeeded).toBe(t4 + h100);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('may have more outstanding than a limit that was lowered; the command is in force when that is over', () => {
    const world = new World({ ...lanes(30, 10), concurrency: 8 });
    const before = outstanding(world);
    world.apply({ type: 'scale', commandId: 'c', limits: { gpuConcurrency: { T4: 1 } } });
    expect(outstanding(world)).toEqual(before);
    expect(world.state.acknowledgements).toEqual([]);
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    expect(world.state.acknowledgements).toMatchObject([
      { id: 'c', ok: true, note: 'gpu-concurrency none → T4=1' },
    ]);
    world.apply({ type: 'scale', commandId: 'd', limits: { gpuConcurrency: { H100: 2 } } });
    expect(world.state.params.gpuConcurrency).toEqual({ T4: 1, H100: 2 });
    world.apply({ type: 'scale', commandId: 'e', limits: { gpuConcurrency: 'none' } });
    expect(world.state.params).not.toHaveProperty('gpuConcurrency');
  });
});
