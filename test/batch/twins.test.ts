import { describe, expect, it } from 'vitest';
import { ABANDONED_MAX, LEASE_MS, TWINS_MAX } from '../../src/batch/limits.ts';
import type { Command, Event } from '../../src/batch/messages.ts';
import { begin } from '../../src/batch/state.ts';
import { step } from '../../src/batch/step.ts';
import { abandon, isTwin, reportTwin } from '../../src/batch/twins.ts';
import { view } from '../../src/batch/view.ts';
import { inDoubt, orderOf, TIMING, underWay, World } from './world.ts';

/** What the batch asks for when it is told this. */
const commandsOf = (world: World, event: Event): readonly Command[] =>
  step(world.state, [event], world.now).commands;
const seen = (runId: string, attempt = 1): Event => ({
  type: 'runsSeen',
  seen: [{ row: 1, attempt, runId }],
});
const ended = (runId: string, outcome: 'succeeded' | 'failed' = 'succeeded'): Event => ({
  type: 'runsEnded',
  by: 'webhook',
  ends: [{ row: 1, attempt: 1, runId, outcome }],
});
const cancels = (commands: readonly Command[]): readonly string[] =>
  commands.flatMap((command) =>
    command.type === 'cancelRuns' ? command.runs.map(({ runId }) => runId) : [],
  );

describe('a second run of one attempt', () => {
  it('is cancelled and reported once, and its end is not the end of the row', () => {
    const world = underWay({ rows: 1, cap: 1 });
    expect(cancels(commandsOf(world, seen('other')))).toEqual(['other']);
    expect(cancels(commandsOf(world, seen('other')))).toEqual([]);
    commandsOf(world, ended('other'));
    expect(view(world.state)).toMatchObject({ running: 1, twins: [{ row: 1, attempt: 1, runId: 'other' }] });
    expect(world.state.ledger.twins).toBe(1);
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it('is reported all the same after a continue-as-new, and not a second time', () => {
    const world = underWay({ rows: 1, cap: 1 });
    commandsOf(world, seen('other'));
    world.carry();
    expect(cancels(commandsOf(world, seen('other')))).toEqual([]);
    expect(view(world.state).twins).toEqual([{ row: 1, attempt: 1, runId: 'other' }]);
  });

  it('is found by its end as well, without being cancelled any more', () => {
    const world = underWay({ rows: 1, cap: 1 });
    expect(cancels(commandsOf(world, ended('other')))).toEqual([]);
    expect(world.state.twins).toHaveLength(1);
  });

  it('is whatever the answer does not name, where both were seen before it', () => {
    const world = new World({ rows: 1, cap: 1 });
    commandsOf(world, seen('other'));
    commandsOf(world, seen('run-0'));
    commandsOf(world, seen('run-0'));
    expect(world.state.twins).toEqual([]);
    world.answer(0, ['accepted']);
    expect(world.state.twins.map(({ runId }) => runId)).toEqual(['other']);
    expect(world.state.entries.get(1)).toMatchObject({ phase: 'running', runId: 'run-0' });
  });

  it('is the one that is not adopted, where the answer was lost', () => {
    const world = new World({ rows: 1, cap: 1 });
    commandsOf(world, seen('one'));
    commandsOf(world, seen('two'));
    const group = world.sends.splice(0)[0]?.group ?? 0;
    const answer = { type: 'groupAnswered', group, answers: [], rest: 'uncertain' } as const;
    expect(cancels(commandsOf(world, answer))).toEqual(['two']);
    expect(world.state.entries.get(1)).toMatchObject({ phase: 'running', runId: 'one' });
  });

  it('is the one that the answer names, where the other has ended before it', () => {
    const world = new World({ rows: 1, cap: 1 });
    commandsOf(world, seen('slow'));
    expect(cancels(commandsOf(world, ended('fast')))).toEqual(['slow']);
    world.answer(0, ['accepted']);
    expect(world.state.twins.map(({ runId }) => runId)).toEqual(['slow', 'run-0']);
  });

  it('is recognized while its row is being collected, and by the attempts that lie behind a row', () => {
    const world = underWay({ rows: 1, cap: 1, retries: 1 });
    world.finish('run-0', 'failed');
    expect(isTwin(world.state, { row: 1, attempt: 1, runId: 'run-0' })).toBe(false);
    expect(isTwin(world.state, { row: 1, attempt: 1, runId: 'other' })).toBe(true);
    world.pass(2_000);
    world.answer(0, ['accepted']);
    world.finish('run-1', 'succeeded');
    expect(world.collects).toHaveLength(1);
    expect(isTwin(world.state, { row: 1, attempt: 2, runId: 'other' })).toBe(true);
    expect(isTwin(world.state, { row: 1, attempt: 2, runId: 'run-1' })).toBe(false);
    world.collect();
    expect(isTwin(world.state, { row: 1, attempt: 2, runId: 'other' })).toBe(false);
  });
});

describe('an attempt that was written off', () => {
  it('is remembered over continue-as-new: its run is cancelled and reported when it turns up', () => {
    const world = inDoubt();
    world.pass(LEASE_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs);
    world.list();
    world.pass(TIMING.listGapMs);
    world.list();
    expect(world.state.ledger.absent).toBe(1);
    world.answer(0, ['accepted']);
    world.carry();
    expect(cancels(commandsOf(world, seen('risen')))).toEqual(['risen']);
    expect(world.state.entries.get(1)).toMatchObject({ phase: 'running', attempt: 2 });
  });

  it('is forgotten when there are too many, the oldest first; so many twins are named, all are counted', () => {
    const state = begin(orderOf({ rows: 10_000 }), 0);
    for (let row = 1; row <= ABANDONED_MAX + 1; row += 1) abandon(state, { row, attempt: 1 });
    expect(isTwin(state, { row: 1, attempt: 1, runId: 'r' })).toBe(false);
    expect(isTwin(state, { row: 2, attempt: 1, runId: 'r' })).toBe(true);
    for (let n = 0; n <= TWINS_MAX; n += 1) reportTwin(state, { row: 2, attempt: 1, runId: `r${n}` }, true);
    expect([state.twins.length, state.ledger.twins]).toEqual([TWINS_MAX, TWINS_MAX + 1]);
  });
});
