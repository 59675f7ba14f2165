import { describe, expect, it } from 'vitest';
import { NONE_HELD } from '../../../src/batch/accounting/reserved-attempts.ts';
import { reportDuplicate } from '../../../src/batch/accounting/duplicates.ts';
import { budgetLeft, reservedNano, spentNano } from '../../../src/batch/sending-limits/budget.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { readUntilResolved, runOfFirst, running, STUCK_MS, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

/** Ten dollars for runs that cost at most one. */
const USD = 1e9;
const BUDGET = { maxCostNano: 10 * USD, attemptCostNano: { '': USD } } satisfies Partial<BatchParams>;

const accounts = ({ state }: World): { spent: number; reserved: number } => ({
  spent: spentNano(state) / USD,
  reserved: reservedNano(state) / USD,
});
const sent = ({ sends }: World): number => sends.reduce((sum, { attempts }) => sum + attempts.length, 0);

/** Reads no lists until the user's rule decides. */
function giveUp(world: World): void {
  while (world.state.phases.unconfirmed > 0) {
    world.read('none');
    world.pass(STUCK_MS);
  }
}

describe('a budget', () => {
  it('lets as many attempts start as could cost it together, although more slots are free', () => {
    const world = new World({ rows: 40, concurrency: 30, ...BUDGET });
    expect([sent(world), accounts(world)]).toEqual([10, { spent: 0, reserved: 10 }]);
  });

  it('is reserved until the part of the row is written, and then what the run cost is spent', () => {
    const world = running({ rows: 40, concurrency: 30, ...BUDGET });
    world.folder.costUsd = 0.25;
    for (let run = 0; run < 10; run += 1) world.finish(`run-${run}`, 'succeeded');
    world.pass(2_000);
    expect([sent(world), accounts(world)]).toEqual([0, { spent: 0, reserved: 10 }]);
    world.collect();
    // 2.50 are spent, so seven more runs fit into the rest.
    expect([sent(world), accounts(world)]).toEqual([7, { spent: 2.5, reserved: 7 }]);
    const budget = { spentNano: 2.5 * USD, reservedNano: 7 * USD, neededNano: 32.5 * USD };
    expect(progress(world.state).budget).toEqual(budget);
    world.state.params = { ...world.state.params, attemptCostNano: {} };
    expect(progress(world.state).budget?.neededNano).toBeUndefined();
  });

  it('keeps the reservation of every earlier attempt of a row that is tried again', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 2, ...BUDGET, maxCostNano: 2 * USD });
    world.finish('run-0', 'failed');
    expect(accounts(world).reserved).toBe(1);
    world.pass(60_000);
    world.answer(0, ['accepted']);
    expect(accounts(world).reserved).toBe(2);
    world.finish('run-1', 'failed');
    world.pass(60_000);
    expect([sent(world), [...world.state.pauses.keys()]]).toEqual([0, ['budget']]);
  });

  it('keeps the reservation of a POST that was turned away, and its repetition needs no other', () => {
    const world = new World({ rows: 2, concurrency: 1, ...BUDGET, maxCostNano: USD });
    world.answer(0, ['throttled']);
    expect(accounts(world).reserved).toBe(1);
    world.pass(1_000);
    expect([sent(world), accounts(world)]).toEqual([1, { spent: 0, reserved: 1 }]);
    world.answer(0, ['accepted']);
    world.folder.costUsd = 0;
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it('repeats a POST that was turned away although other rows of the lane have to wait longer for the budget', () => {
    const world = running({ rows: 2, concurrency: 2, retries: 1, ...BUDGET, maxCostNano: 2 * USD });
    world.finish('run-0', 'failed');
    world.finish('run-1', 'failed');
    world.apply({ type: 'resume', limits: { maxCostNano: 3 * USD } });
    world.pass(60_000);
    expect(sent(world)).toBe(1);
    world.answer(0, ['throttled']);
    world.pass(60_000);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('gives back the reservation of an attempt whose POST was not begun, was refused, or is proved absent', () => {
    const refused = new World({ rows: 1, concurrency: 1, ...BUDGET });
    refused.answer(0, ['rejected']);
    expect(accounts(refused).reserved).toBe(0);
    const notSent = new World({ rows: 1, concurrency: 1, ...BUDGET });
    notSent.answer(0, ['not-sent']);
    expect(accounts(notSent).reserved).toBe(0);
    const absent = unconfirmed(BUDGET);
    expect(accounts(absent).reserved).toBe(1);
    absent.apply({ type: 'pause' });
    readUntilResolved(absent);
    expect(accounts(absent)).toEqual({ spent: 0, reserved: 0 });
  });

  it('counts an attempt that is given up in full: as reserved first, as spent when its part is written', () => {
    const world = unconfirmed({ lists: false, ...BUDGET });
    giveUp(world);
    expect(accounts(world)).toEqual({ spent: 0, reserved: 1 });
    world.pass(2_000);
    world.collect();
    world.continueAsNew();
    expect(accounts(world)).toEqual({ spent: 1, reserved: 0 });
  });

  it('counts an attempt that is resubmitted, and its successor', () => {
    const world = unconfirmed({ lists: false, unconfirmed: { rule: 'resubmit', afterMs: 500 }, ...BUDGET });
    giveUp(world);
    expect([sent(world), accounts(world)]).toEqual([1, { spent: 0, reserved: 2 }]);
    world.folder.costUsd = 0.5;
    world.answer(0, ['accepted']);
    world.finish(world.runOf(1) ?? '', 'succeeded');
    world.pass(2_000);
    world.collect();
    expect(accounts(world)).toEqual({ spent: 1.5, reserved: 0 });
  });

  it('counts a run in full whose record does not say what it cost', () => {
    const world = running({ rows: 1, concurrency: 1, ...BUDGET });
    world.folder.costUsd = undefined;
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.collect();
    expect(accounts(world)).toEqual({ spent: 1, reserved: 0 });
  });

  it('counts a duplicate run in full, once', () => {
    const world = running({ rows: 1, concurrency: 1, ...BUDGET });
    for (let times = 0; times < 2; times += 1) reportDuplicate(world.state, runOfFirst('other'), true);
    expect(accounts(world)).toEqual({ spent: 1, reserved: 1 });
  });

  it('keeps what it counts while files are fetched later, and over a continue-as-new', () => {
    const world = running({ rows: 1, concurrency: 1, ...BUDGET });
    world.folder.costUsd = 0.5;
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.continueAsNew();
    expect(accounts(world)).toEqual({ spent: 0, reserved: 1 });
    world.collect(0, 'host');
    expect(accounts(world)).toEqual({ spent: 0, reserved: 1 });
    world.continueAsNew();
    world.settle();
    expect(accounts(world)).toEqual({ spent: 0.5, reserved: 0 });
    expect(world.state.lanes.map(({ held }) => held)).toEqual([NONE_HELD]);
  });

  it('is spent on the rows of a cheap GPU when no run on a dear one fits any more', () => {
    const lanes = [
      { gpu: 'H100', places: 10 },
      { gpu: 'A10G', places: 10 },
    ];
    const attemptCostNano = { H100: 4 * USD, A10G: USD };
    const world = new World({ rows: 20, concurrency: 20, lanes, ...BUDGET, attemptCostNano });
    const places = world.sends.flatMap(({ attempts }) => attempts.map(({ place }) => place));
    expect(accounts(world)).toEqual({ spent: 0, reserved: 10 });
    // The lanes take turns: 4 + 1 + 4, then only the cheap one fits.
    expect([places.filter((place) => place <= 10).length, places.length]).toEqual([2, 4]);
  });

  it('that is lowered below what is spent and reserved stops the groups in flight, and nothing more starts', () => {
    const world = new World({ rows: 40, concurrency: 4, ...BUDGET });
    world.apply({ type: 'scale', commandId: 's', limits: { maxCostNano: 2 * USD } });
    expect([world.stopped.length, world.state.acknowledgements]).toEqual([1, []]);
    world.answer(0, ['throttled']);
    expect(world.state.acknowledgements.at(-1)).toEqual({
      id: 's',
      ok: true,
      note: 'max-cost $10.00 → $2.00',
    });
    expect(budgetLeft(world.state)).toBe(-2 * USD);
    world.pass(600_000);
    expect([sent(world), [...world.state.pauses.keys()]]).toEqual([0, ['budget']]);
  });

  it('that is lowered also holds back POSTs that were turned away, until runs in flight have left enough', () => {
    const world = new World({ rows: 2, concurrency: 2, ...BUDGET });
    world.answer(0, ['accepted', 'throttled']);
    world.apply({ type: 'scale', limits: { maxCostNano: 1.5 * USD } });
    world.pass(60_000);
    expect([sent(world), [...world.state.pauses.keys()]]).toEqual([0, []]);
    world.folder.costUsd = 0.25;
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.collect();
    expect([sent(world), accounts(world)]).toEqual([1, { spent: 0.25, reserved: 1 }]);
  });

  it('cannot be set if the cost of a run has no known bound', () => {
    const world = running({ rows: 4, concurrency: 2 });
    world.apply({ type: 'scale', commandId: 's', limits: { maxCostNano: USD } });
    expect(world.state.acknowledgements.at(-1)).toEqual({
      id: 's',
      ok: false,
      note: 'the cost of a run has no known bound, so max-cost could not be kept',
    });
  });
});
