import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../src/batch/limits.ts';
import { view } from '../../src/batch/view.ts';
import { TIMING, World, inDoubt } from './world.ts';

describe('doubt', () => {
  it('reads the lists back to when the group was asked for, however late it was given up', () => {
    const world = new World({ rows: 1, cap: 1 });
    const askedAt = world.now;
    world.now += 12 * 3_600_000;
    world.answer(0, ['lost']);
    expect(world.lists.map(({ since }) => since)).toEqual([askedAt]);
  });

  it('asks the lists at once, and adopts at once what they show', () => {
    const world = new World({ rows: 1, cap: 1 });
    world.answer(0, ['lost']);
    expect(world.lists).toHaveLength(1);
    world.list();
    expect(view(world.state)).toMatchObject({ running: 1, uncertain: 0 });
    expect(world.state.ledger.adopted.list).toBe(1);
  });

  it('believes in absence only after two complete lists that are late enough and a gap apart', () => {
    const world = inDoubt();
    const late = LEASE_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs;
    world.list();
    expect(view(world.state).uncertain).toBe(1);
    world.pass(late);
    world.list('incomplete');
    world.pass(TIMING.listGapMs);
    world.list();
    expect(view(world.state).uncertain).toBe(1);
    expect(world.sends).toHaveLength(0);
    world.pass(TIMING.listGapMs);
    world.list();
    expect(world.state.ledger.absent).toBe(1);
    expect(world.sends.at(-1)?.attempts).toEqual([{ row: 1, attempt: 2 }]);
  });

  it('needs less time where the list shows a run that was accepted later', () => {
    const sooner = LEASE_MS + TIMING.postDeadlineMs;
    const world = new World({ rows: 5, cap: 2, retries: 0 });
    world.answer(0, ['dropped', 'accepted']);
    world.list();
    world.pass(sooner + 1);
    // run-0 was accepted before the doubt began: a list that shows it proves nothing yet.
    expect(world.lists[0]?.control).toBe('run-0');
    world.list();
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    world.pass(TIMING.listGapMs);
    expect(world.lists[0]?.control).toBe('run-1');
    world.list();
    expect(world.state.ledger.absent).toBe(0);
    world.pass(TIMING.listGapMs);
    world.list();
    expect(world.state.ledger.absent).toBe(1);
  });

  it('needs all of its time where a list does not show the run that it must show', () => {
    const sooner = LEASE_MS + TIMING.postDeadlineMs;
    const world = new World({ rows: 5, cap: 2, retries: 0 });
    world.answer(0, ['dropped', 'accepted']);
    world.pass(sooner);
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    world.lists.splice(0);
    const lags = { answer: 'complete', found: [], control: false } as const;
    for (const late of [0, TIMING.listGapMs, TIMING.listGapMs]) {
      world.pass(late);
      world.tell({ type: 'listed', look: { ...lags, askedAt: world.now } });
      expect(world.state.ledger.absent).toBe(0);
    }
    world.pass(TIMING.settleWithoutControlMs);
    world.tell({ type: 'listed', look: { ...lags, askedAt: world.now } });
    world.pass(TIMING.listGapMs);
    world.tell({ type: 'listed', look: { ...lags, askedAt: world.now } });
    expect(world.state.ledger.absent).toBe(1);
  });

  it('two lists that follow each other too closely count as one', () => {
    const world = inDoubt();
    world.pass(LEASE_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs);
    world.list();
    world.pass(TIMING.listGapMs - 1);
    const look = { answer: 'complete', found: [], control: false } as const;
    world.tell({ type: 'listed', look: { ...look, askedAt: world.now } });
    expect(view(world.state).uncertain).toBe(1);
    world.tell({ type: 'listed', look: { ...look, askedAt: world.now + 1 } });
    expect(world.state.ledger.absent).toBe(1);
  });

  it('without any list ends as unknown, reported and never sent again', () => {
    const world = inDoubt();
    const none = { answer: 'none', found: [], control: false } as const;
    world.tell({ type: 'listed', look: { ...none, askedAt: world.now } });
    expect(view(world.state).uncertain).toBe(1);
    world.pass(60_000);
    world.tell({ type: 'listed', look: { ...none, askedAt: world.now } });
    expect(world.state.ledger.unknown).toBe(1);
    expect(world.collects[0]?.rows[0]?.attempts[0]).toMatchObject({ outcome: 'unknown' });
    expect(world.sends).toHaveLength(0);
  });

  it('a cancelled batch does not send again what proves absent', () => {
    const world = inDoubt();
    world.tell({ type: 'cancel', running: false });
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.posted.size).toBe(1);
    expect(view(world.state).tally.outcomes.cancelled).toBe(1);
  });

  it('looks less and less often', () => {
    const world = inDoubt();
    const gaps: number[] = [];
    for (let look = 0; look < 16; look += 1) {
      world.list('incomplete');
      gaps.push(world.workAt - world.now);
      world.pass(world.workAt - world.now);
    }
    expect(gaps[0]).toBe(TIMING.listGapMs);
    expect(gaps.at(-1)).toBe(60_000);
  });
});
