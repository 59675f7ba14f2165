import { describe, expect, it } from 'vitest';
import { collect } from '../../../src/batch/decisions/collect.ts';
import { publish } from '../../../src/batch/decisions/publish.ts';
import { runTimeShareMs } from '../../../src/batch/decisions/run-time-share.ts';
import { TIMING } from '../params.ts';
import { running } from '../scenes.ts';
import type { World } from '../world.ts';

const RARE = { ...TIMING, pollIntervalMs: 1_000_000 };

/** A batch whose runs usually take so long; the first of them has just ended. */
function afterRunsOf(ms: number, params: Parameters<typeof running>[0] = {}): World {
  const world = running({ rows: 60, concurrency: 20, timing: RARE, ...params });
  world.pass(ms);
  world.finish('run-0', 'succeeded');
  return world;
}

describe('the pace of a batch', () => {
  it('follows the usual run time between its limits', () => {
    const phases = { waiting: 0, sending: 0, running: 1, unconfirmed: 0, ended: 0 };
    const at = (usualRunMs: number, unconfirmed = 0) =>
      runTimeShareMs({ usualRunMs, phases: { ...phases, unconfirmed } }, 1_000, 0.5);
    expect([0, 2_000, 6_000, 20_000, 3_600_000].map((ms) => at(ms))).toEqual([
      1_000, 1_000, 3_000, 10_000, 10_000,
    ]);
    // A jump of the clock within a long wait would count as time.
    expect(at(3_600_000, 1)).toBe(1_000);
  });

  it('a row that ended waits for others for two run times, and half a run time if something else happens', () => {
    const world = afterRunsOf(6_000);
    expect(world.waitFor(collect)).toBe(12_000);
    world.pass(2_900);
    world.finish('run-1', 'succeeded');
    expect(world.collects).toHaveLength(0);
    world.pass(500);
    world.finish('run-2', 'succeeded');
    // A timer may have made a step in between.
    expect(world.collects[0]?.rows.length).toBeGreaterThanOrEqual(2);
  });

  it('progress waits for two run times, and a quarter of one if something else happens', () => {
    const world = afterRunsOf(6_000);
    // The latest publication was long ago, so the first end was published immediately.
    const { length } = world.published;
    world.finish('run-1', 'succeeded');
    expect(world.published).toHaveLength(length);
    expect(world.waitFor(publish)).toBeGreaterThan(10_000);
    world.pass(1_600);
    world.finish('run-2', 'succeeded');
    expect(world.published).toHaveLength(length + 1);
  });

  it.each([
    ['a canary is judged', { lanes: [{ places: 60, canary: 20 }], canary: { rows: 20, asks: false } }],
    ['a budget waits for what runs have cost', { maxCostNano: 1e12, attemptCostNano: { '': 1 } }],
  ])('rows are collected after a second while %s', (_, params) => {
    expect(afterRunsOf(6_000, params).waitFor(collect)).toBe(1_000);
  });

  it('rows are collected after a second while the batch is paused', () => {
    const world = afterRunsOf(6_000);
    world.apply({ type: 'pause' });
    expect(world.waitFor(collect)).toBe(1_000);
  });
});
