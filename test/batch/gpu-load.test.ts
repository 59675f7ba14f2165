import { describe, expect, it } from 'vitest';
import { GPU_NAMES_MAX } from '../../src/batch/bounds.ts';
import { newClimbingLane, newLane, type Lane } from '../../src/batch/state/lanes.ts';
import { loadByGpu, progress } from '../../src/batch/shown/progress.ts';
import { running } from './scenes.ts';

const places = (count: number) => [{ first: 1, count }];
const busy = (lane: Lane, outstanding: number): Lane => ({ ...lane, outstanding });

describe('the load by GPU', () => {
  it('adds up lanes of the same GPU, and keeps rows that ask for none apart', () => {
    const lanes = [
      busy(newLane('T4', places(5)), 2),
      busy(newLane('T4', places(1)), 3),
      busy(newLane(undefined, places(4)), 1),
    ];
    expect(loadByGpu(lanes)).toEqual([
      { gpu: 'T4', outstanding: 5, waiting: 0, unsent: 6 },
      { outstanding: 1, waiting: 0, unsent: 4 },
    ]);
  });

  it('counts the unsent rows of a ladder on the rung on which they will start', () => {
    const lane = newClimbingLane(1, ['T4', 'H100'], places(7));
    lane.climb.rung = 1;
    for (const rung of lane.climb.rungs) rung.outstanding = 1;
    expect(loadByGpu([lane])).toEqual([
      { gpu: 'T4', outstanding: 1, waiting: 0, unsent: 0 },
      { gpu: 'H100', outstanding: 1, waiting: 0, unsent: 7 },
    ]);
  });

  it('puts GPUs beyond the maximum together and loses no row', () => {
    const lanes = Array.from({ length: 2 * GPU_NAMES_MAX }, (_, at) => newLane(`gpu-${at}`, places(1)));
    const loads = loadByGpu(lanes);
    expect(loads).toHaveLength(GPU_NAMES_MAX + 1);
    expect(loads.at(-1)).toMatchObject({ gpu: 'other', unsent: GPU_NAMES_MAX });
  });

  it('agrees with the counts of the whole batch', () => {
    const world = running({ rows: 40, concurrency: 6 });
    world.finish('run-1', 'failed');
    world.answer(0, ['dropped', 'not-sent']);
    const { byGpu = [], sending, running: on, unconfirmed, retrying, unsent } = progress(world.state);
    const sumOf = (of: 'outstanding' | 'waiting' | 'unsent'): number =>
      byGpu.reduce((sum, load) => sum + load[of], 0);
    expect([sumOf('outstanding'), sumOf('waiting'), sumOf('unsent')]).toEqual([
      sending + on + unconfirmed,
      retrying,
      unsent,
    ]);
  });
});
