import { describe, expect, it } from 'vitest';
import type { BatchParams } from '../../../src/batch/params.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

const USD = 1e9;
const BUDGET = { maxCostNano: 10 * USD, attemptCostNano: { '': 2 * USD } } satisfies Partial<BatchParams>;
const kinds = ({ state }: World): readonly string[] => [...state.pauses.keys()];

/** Ends the runs and writes their part; each costs this much. */
function collectAll(world: World, costUsd: number): void {
  world.folder.costUsd = costUsd;
  for (const { runId } of world.service.runs) world.finish(runId, 'succeeded');
  world.pass(2_000);
  world.collect();
}

describe('--max-cost', () => {
  it('pauses when no run fits any more, with the figures and the GPU', () => {
    const lanes = [{ gpu: 'A10G', places: 30 }];
    const world = running({
      rows: 30,
      concurrency: 8,
      lanes,
      ...BUDGET,
      attemptCostNano: { A10G: 2 * USD },
    });
    expect([world.state.phases.running, kinds(world)]).toEqual([5, []]);
    collectAll(world, 1.75);
    expect(progress(world.state).reason).toBe(
      '$8.75 of $10.00 spent; the next run on A10G may cost up to $2.00',
    );
    expect([kinds(world), world.sends]).toEqual([['budget'], []]);
  });

  it('waits while a run in flight may leave enough, and not longer', () => {
    const world = running({ rows: 30, concurrency: 8, ...BUDGET, maxCostNano: 3 * USD });
    expect([world.state.phases.running, kinds(world)]).toEqual([1, []]);
    world.folder.costUsd = 1.5;
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    expect(kinds(world)).toEqual([]);
    world.collect();
    expect(kinds(world)).toEqual(['budget']);
  });

  it('says what is reserved for runs whose cost is not known', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 1, ...BUDGET, maxCostNano: 3 * USD });
    world.finish('run-0', 'failed');
    expect(progress(world.state).reason).toBe(
      '$0.00 of $3.00 spent, $2.00 reserved for runs whose cost is not known yet; the next run may cost up to $2.00',
    );
  });

  it('pauses a batch whose rows cannot be sent because their cost has no known bound', () => {
    const world = running({ rows: 2, concurrency: 1, ...BUDGET, attemptCostNano: {} });
    expect(progress(world.state).reason).toBe('$0.00 of $10.00 spent; the next run has no known cost');
    world.apply({ type: 'cancel', running: false });
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it('names the GPU of the cheapest run that does not fit', () => {
    const lanes = [
      { gpu: 'H100', places: 2 },
      { gpu: 'T4', places: 2 },
      { gpu: 'A10G', places: 2 },
    ];
    const attemptCostNano = { H100: 40 * USD, T4: 20 * USD, A10G: 30 * USD };
    const world = new World({ rows: 6, concurrency: 4, lanes, ...BUDGET, attemptCostNano });
    expect(progress(world.state).reason).toContain('the next run on T4 may cost up to $20.00');
  });

  it('does not pause a batch that has nothing left to send', () => {
    const world = running({ rows: 5, concurrency: 5, ...BUDGET });
    collectAll(world, 2.5);
    expect([kinds(world), world.state.tally.outcomes.succeeded]).toEqual([[], 5]);
  });

  it('continues when the user raises or removes it, by scale as by resume', () => {
    const paused = (): World => {
      const world = running({ rows: 30, concurrency: 8, ...BUDGET });
      collectAll(world, 2);
      expect(kinds(world)).toEqual(['budget']);
      return world;
    };
    const resumed = paused();
    resumed.apply({ type: 'resume', commandId: 'r', limits: { maxCostNano: 14 * USD } });
    expect([kinds(resumed), resumed.sends[0]?.attempts.length]).toEqual([[], 2]);
    expect(resumed.state.acknowledgements.at(-1)?.note).toBe('max-cost $10.00 → $14.00');
    const scaled = paused();
    scaled.apply({ type: 'scale', commandId: 's', limits: { maxCostNano: 'none' } });
    expect([kinds(scaled), scaled.sends[0]?.attempts.length]).toEqual([[], 8]);
    expect(progress(scaled.state)).not.toHaveProperty('budget');
    const unchanged = paused();
    unchanged.apply({ type: 'resume', commandId: 'r' });
    expect([kinds(unchanged), unchanged.sends]).toEqual([['budget'], []]);
  });

  it('ends with the batch when the last row that waits gets a run anyway', () => {
    const world = new World({ rows: 1, concurrency: 1, ...BUDGET, maxCostNano: 2 * USD });
    world.answer(0, ['made-and-throttled']);
    world.apply({ type: 'scale', limits: { maxCostNano: 1 } });
    world.pass(10_000);
    expect(kinds(world)).toEqual(['budget']);
    const [run] = world.service.runs;
    if (run !== undefined) world.callBack(run);
    world.finish('run-0', 'succeeded');
    expect(kinds(world)).toEqual([]);
    world.settle();
    expect(world.state.finished).toBe(true);
  });
});
