import { describe, expect, it } from 'vitest';
import type { BatchParams } from '../../../src/batch/params.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import type { World } from '../world.ts';

const USD = 1e9;
const BUDGET = {
  rows: 200,
  concurrency: 20,
  maxCostNano: 25 * USD,
  attemptCostNano: { '': USD },
} satisfies Partial<BatchParams>;

/** Ends all open runs and collects them; each costs this much. */
function round(world: World, costUsd: number): void {
  world.folder.costUsd = costUsd;
  for (const { runId } of world.service.runs) world.finish(runId, 'succeeded');
  world.pass(2_000);
  while (world.collects.length > 0) world.collect();
  while (world.sends.length > 0) world.answer(0, ['accepted']);
}

describe('--reserve p99', () => {
  it('reserves the highest cost until 20 runs are known, then what 99 of 100 of them have cost', () => {
    const world = running({ ...BUDGET, reserve: 'p99' });
    expect(progress(world.state).budget).toMatchObject({
      spentNano: 0,
      reservedNano: 20 * USD,
      isEstimate: true,
    });
    round(world, 0.1);
    const { reservedNano = 0 } = progress(world.state).budget ?? {};
    expect(reservedNano / USD / world.state.phases.running).toBeCloseTo(0.1, 1);
    world.continueAsNew();
    expect(progress(world.state).budget?.reservedNano).toBe(reservedNano);
  });

  it('uses a limit up that the highest costs would leave half unused, and pauses with the word estimate', () => {
    const spentBy = (reserve: Partial<BatchParams>): number => {
      const world = running({ ...BUDGET, maxCostNano: 5 * USD, concurrency: 3, ...reserve });
      for (let rounds = 0; rounds < 80; rounds += 1) round(world, 0.1);
      expect([...world.state.pauses.keys()]).toEqual(['budget']);
      expect(progress(world.state).reason?.includes('reserves an estimate of')).toBe('reserve' in reserve);
      return (progress(world.state).budget?.spentNano ?? 0) / USD;
    };
    expect(spentBy({ reserve: 'p99' })).toBeGreaterThan(4.8);
    expect(spentBy({})).toBeLessThan(4.2);
  });

  it('may be overrun by runs in flight that cost more than those before them, and then sends nothing more', () => {
    const world = running({ ...BUDGET, maxCostNano: 10 * USD, concurrency: 10, reserve: 'p99' });
    for (let rounds = 0; rounds < 3; rounds += 1) round(world, 0.1);
    for (let rounds = 0; rounds < 5; rounds += 1) round(world, 1);
    const { spentNano = 0, reservedNano = 0 } = progress(world.state).budget ?? {};
    expect(spentNano).toBeGreaterThan(10 * USD);
    // Ten runs were in flight and ten more not collected when the last one was sent: at most all of them at the highest cost.
    expect(spentNano + reservedNano).toBeLessThanOrEqual(30 * USD);
    expect([...world.state.pauses.keys()]).toEqual(['budget']);
  });

  it('counts an attempt whose cost will never be known in full, not as the estimate', () => {
    const world = running({ ...BUDGET, reserve: 'p99' });
    round(world, 0.1);
    const before = progress(world.state).budget?.spentNano ?? 0;
    const [lane] = world.state.lanes;
    if (lane?.p99Nano === undefined) throw new Error('no estimate is known');
    lane.unpriced += 1;
    expect(progress(world.state).budget?.spentNano).toBe(before + USD);
  });
});
