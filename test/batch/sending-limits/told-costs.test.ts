// --max-cost where a run tells its cost at its end only.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchParams } from '../../../src/batch/params.ts';
import { attemptCost } from '../../../src/batch/sending-limits/budget.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { World } from '../world.ts';

const USD = 1e9;
const VENDOR_WEBHOOKS = { learnsCost: true, attemptCostNano: {} } satisfies Partial<BatchParams>;

const inFlight = ({ sends }: World): number => sends.reduce((sum, { attempts }) => sum + attempts.length, 0);

/** Ends everything that is in flight at these costs, again and again, until nothing more is sent. */
function runOut(world: World, costs: () => number): number {
  let most = 0;
  for (let rounds = 0; rounds < 60 && world.state.pauses.size === 0; rounds += 1) {
    most = Math.max(most, inFlight(world));
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    for (const row of world.state.rows.values()) {
      world.folder.costUsd = costs();
      if (row.phase === 'running') world.finish(row.runId, 'succeeded');
    }
    world.pass(2_000);
    while (world.state.parts.size > 0) world.collect();
  }
  return most;
}

const budget = ({ state }: World) => progress(state).budget;

describe('--max-cost where only the end of a run shows its cost', () => {
  it('sends one run first, then as many as fit at the most that one has cost', () => {
    const world = new World({ rows: 40, concurrency: 10, ...VENDOR_WEBHOOKS, maxCostNano: USD });
    expect([inFlight(world), budget(world)?.reservedNano]).toEqual([1, USD]);
    expect(budget(world)?.neededNano).toBeUndefined();
    world.folder.costUsd = 0.25;
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.collect();
    expect([inFlight(world), budget(world)]).toEqual([
      3,
      { spentNano: 0.25 * USD, reservedNano: 0.75 * USD, neededNano: 10 * USD, isEstimate: true },
    ]);
    world.continueAsNew();
    expect(budget(world)?.reservedNano).toBe(0.75 * USD);
  });

  it('stops exactly at the limit if all runs cost the same, whatever the limits are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 12 }),
        (cents, limitCents, concurrency) => {
          const maxCostNano = limitCents * 1e7;
          const world = new World({ rows: 200, concurrency, ...VENDOR_WEBHOOKS, maxCostNano });
          runOut(world, () => cents / 100);
          const most = Math.max(1, Math.floor(limitCents / cents)) * cents * 1e7;
          expect([...world.state.pauses.keys()]).toEqual(['budget']);
          expect(budget(world)?.spentNano).toBe(most);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('exceeds the limit by runs in flight only, if these cost more than all before them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 30, maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        (cents, concurrency) => {
          let at = 0;
          const world = new World({ rows: 200, concurrency, ...VENDOR_WEBHOOKS, maxCostNano: USD });
          runOut(world, () => (cents[at++ % cents.length] ?? 1) / 100);
          expect(budget(world)?.spentNano).toBeLessThanOrEqual(USD + concurrency * 0.2 * USD);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('stops if the first run does not tell its cost, and says that it is not known', () => {
    const world = new World({ rows: 4, concurrency: 2, ...VENDOR_WEBHOOKS, maxCostNano: USD });
    world.folder.costUsd = undefined;
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.collect();
    world.pass(2_000);
    expect([...world.state.pauses.keys()]).toEqual(['budget']);
    expect(progress(world.state).reason).toContain(
      '$0.00 of $1.00 spent, $1.00 reserved for runs whose cost is not known yet; the next run has no known cost',
    );
    expect(budget(world)).toEqual({ spentNano: 0, reservedNano: USD, isEstimate: true });
  });

  it('counts a run that does not tell its cost at the most that one has told', () => {
    const world = new World({ rows: 40, concurrency: 1, ...VENDOR_WEBHOOKS, maxCostNano: USD });
    let ended = 0;
    for (const cost of [0.2, undefined, 0.3]) {
      world.folder.costUsd = cost;
      world.answer(0, ['accepted']);
      world.finish(`run-${ended++}`, 'succeeded');
      world.pass(2_000);
      world.collect();
    }
    expect(budget(world)?.spentNano).toBe(0.8 * USD);
    world.pass(2_000);
    expect(progress(world.state).reason).toContain('reserves $0.30, the most that one has cost');
  });

  it('sends one run first although a price is stated, and reserves no less than that price', () => {
    const stated = { ...VENDOR_WEBHOOKS, leastCostNano: 0.04 * USD };
    const dear = new World({ rows: 200, concurrency: 24, ...stated, maxCostNano: USD });
    runOut(dear, () => 1);
    expect([budget(dear)?.spentNano, [...dear.state.pauses.keys()]]).toEqual([USD, ['budget']]);
    const cheap = new World({ rows: 200, concurrency: 50, ...stated, maxCostNano: USD });
    cheap.folder.costUsd = 0.01;
    cheap.answer(0, ['accepted']);
    cheap.finish('run-0', 'succeeded');
    cheap.pass(2_000);
    cheap.collect();
    expect(inFlight(cheap)).toBe(24);
  });

  it('learns nothing from a run that tells nothing to pay', () => {
    const world = new World({ rows: 200, concurrency: 24, ...VENDOR_WEBHOOKS, maxCostNano: USD });
    world.folder.costUsd = 0;
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.collect();
    expect([inFlight(world), budget(world)?.reservedNano]).toEqual([1, USD]);
    runOut(world, () => 1);
    expect(budget(world)?.spentNano).toBe(USD);
  });

  it('limits nothing without a limit', () => {
    const world = new World({ rows: 4, concurrency: 4, ...VENDOR_WEBHOOKS });
    expect([inFlight(world), attemptCost(world.state.params, {})]).toEqual([4, Infinity]);
  });
});
