import { describe, expect, it } from 'vitest';
import { RECONCILE_MAX_MS } from '../../../src/batch/on-event/list-read.ts';
import { reconcile } from '../../../src/batch/decisions/reconcile.ts';
import { TIMING } from '../params.ts';
import { unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

describe('reconcile', () => {
  it('reading the run lists begins as soon as an attempt is unconfirmed, one reading at a time for all of them', () => {
    const world = new World({ rows: 10, concurrency: 40 });
    expect(world.readings).toEqual([]);
    world.answer(0, ['dropped', 'accepted']);
    expect(world.readings.map(({ attempts }) => attempts.length)).toEqual([5]);
    world.pass(1_000_000);
    expect(world.readings).toHaveLength(1);
  });

  it('reading the run lists goes back to when the group was asked for, however late it was abandoned', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.pass(12 * 3_600_000);
    world.answer(0, ['lost']);
    expect(world.readings.map(({ back }) => back)).toEqual([{ agoMs: 12 * 3_600_000, wallAt: world.wallAt }]);
  });

  it("reading the run lists goes as far back if Temporal's clock was set back meanwhile", () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.pass(5_000);
    world.jump(-3_600_000);
    world.answer(0, ['lost']);
    expect(world.readings[0]?.back.agoMs).toBe(5_000);
  });

  it('reading the run lists goes back to the oldest attempt, and names the newest run that was accepted as control', () => {
    const world = new World({ rows: 70, concurrency: 64 });
    world.answer(0, ['accepted']);
    world.pass(1_000);
    world.answer(0, ['dropped']);
    world.read('incomplete');
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    world.answer(0, ['accepted']);
    expect(world.readings[0]).toMatchObject({ back: { agoMs: 1_000 + TIMING.listGapMs }, control: 'run-31' });
    world.read('incomplete');
    world.pass(1_000);
    expect(world.readings[0]).toMatchObject({ control: 'run-32' });
  });

  it('reading the run lists goes back to the oldest of several unconfirmed attempts', () => {
    const world = new World({ rows: 34, concurrency: 33 });
    world.answer(0, ['dropped']);
    world.answer(0, ['accepted']);
    world.pass(3_000);
    world.finish('run-0', 'succeeded');
    world.read('incomplete');
    world.pass(1_000);
    world.answer(0, ['dropped']);
    world.read('incomplete');
    world.pass(1_000);
    expect(world.readings[0]).toMatchObject({
      attempts: { length: 33 },
      back: { agoMs: expect.any(Number) },
    });
    expect(world.readings[0]?.back.agoMs).toBeGreaterThan(4_000);
  });

  it('reading the run lists expects as many runs as are known, but for the latest ones, and never fewer than none', () => {
    const world = new World({ rows: 33, concurrency: 1 });
    for (let row = 0; row < 32; row += 1) {
      world.answer(0, ['accepted']);
      world.finish(`run-${row}`, 'succeeded');
    }
    world.answer(0, ['dropped']);
    expect(world.readings[0]?.least).toBe(31);
    const small = new World({ rows: 64, concurrency: 64 });
    small.answer(0, ['dropped']);
    expect(small.readings[0]?.least).toBe(0);
  });

  it('reading the run lists comes less and less often, at least once a minute', () => {
    const world = unconfirmed();
    const gaps: number[] = [];
    for (let reading = 0; reading < 16; reading += 1) {
      world.read('incomplete');
      gaps.push(world.waitMs);
      world.pass(world.waitMs);
    }
    expect(gaps.slice(0, 5)).toEqual([100, 100, 100, 100, 200]);
    expect(gaps.at(-1)).toBe(RECONCILE_MAX_MS);
  });

  it('reading the run lists comes no more often than the service wants', () => {
    const world = unconfirmed({ timing: { ...TIMING, listGapMs: 600_000 } });
    for (let reading = 0; reading < 8; reading += 1) {
      world.read('incomplete');
      expect(world.waitFor(reconcile)).toBe(600_000);
      world.pass(600_000);
    }
  });

  it('reading the run lists comes often again when another attempt is unconfirmed', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.end([
      { place: 1, attempt: 1, result: 'unconfirmed' },
      { place: 2, attempt: 1, result: 'not-sent' },
    ]);
    for (let reading = 0; reading < 8; reading += 1) {
      world.read('incomplete');
      world.pass(world.waitMs);
      while (world.sends.length > 1) world.sends.shift();
    }
    world.read('incomplete');
    expect(world.waitMs).toBeGreaterThan(10 * TIMING.listGapMs);
    world.answer(0, ['dropped']);
    expect(world.readings.map(({ attempts }) => attempts.length)).toEqual([2]);
    world.read('incomplete');
    expect(world.waitFor(reconcile)).toBe(TIMING.listGapMs);
  });

  it('reading the run lists is begun again after a continue-as-new, not before its time', () => {
    const world = unconfirmed();
    world.continueAsNew();
    expect(world.readings).toHaveLength(1);
    world.read('incomplete');
    const { waitMs } = world;
    world.continueAsNew();
    expect(world.readings).toEqual([]);
    expect(world.waitMs).toBe(waitMs);
  });
});
