import { describe, expect, it } from 'vitest';
import { mostConcurrency } from '../../../src/batch/bounds.ts';
import { MAX_CONCURRENCY, MAX_RETRIES } from '../../../src/options/bounds-and-defaults.ts';
import type { LimitChange } from '../../../src/options/limits.ts';
import { changeLimits } from '../../../src/batch/on-event/change-limits.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { Crowd } from '../crowd.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

const answers = ({ state }: World): readonly unknown[] => state.acknowledgements;
const kindsOf = ({ state }: World): readonly string[] => [...state.pauses.keys()];

describe('a change of limits', () => {
  it('ends the pause of the limit that it replaces', () => {
    const world = running({ rows: 9, concurrency: 1, retries: 0, failAfter: { rows: 1 } });
    world.finish('run-0', 'failed');
    world.apply({ type: 'scale', limits: { deadlineAt: world.wallAt } });
    expect(kindsOf(world)).toEqual(['failures', 'deadline']);
    world.apply({ type: 'scale', limits: { failAfter: 'none' } });
    expect(kindsOf(world)).toEqual(['deadline']);
    world.apply({ type: 'scale', limits: { deadlineAt: world.wallAt + 1_000 } });
    expect(kindsOf(world)).toEqual([]);
  });

  it('to a deadline that no clock can show is refused', () => {
    const { state } = running({ rows: 2, concurrency: 1 });
    expect(changeLimits(state, { deadlineAt: 8.64e16 })).toEqual({
      ok: false,
      note: 'deadlineAt cannot be set to this value',
    });
  });

  it('to a lower concurrency is acknowledged when no group can start a run beyond it', () => {
    const world = running({ rows: 300, concurrency: 100 });
    for (let run = 0; run < 10; run += 1) world.finish(`run-${run}`, 'succeeded');
    expect(world.sends.length).toBeGreaterThan(0);
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 20 } });
    expect([answers(world), world.stopped.length]).toEqual([[], world.sends.length]);
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    expect(answers(world)).toEqual([
      {
        id: 's',
        ok: true,
        note: 'concurrency 100 → 20; 100 runs are outstanding, and none starts before that is below 20',
      },
    ]);
    expect(progress(world.state).concurrency).toBe(20);
  });

  it('to a lower concurrency starts a run only when fewer are outstanding, also after a continue-as-new', () => {
    const world = running({ rows: 20, concurrency: 10 });
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 3 } });
    world.continueAsNew();
    for (let run = 0; run < 7; run += 1) world.finish(`run-${run}`, 'succeeded');
    expect(world.sends).toEqual([]);
    world.finish('run-7', 'succeeded');
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('to a higher concurrency is in force immediately', () => {
    const world = running({ rows: 20, concurrency: 2 });
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 5 } });
    expect(answers(world)).toEqual([{ id: 's', ok: true, note: 'concurrency 2 → 5' }]);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([3]);
    expect(world.state.peakConcurrency).toBe(5);
  });

  it('that changes nothing says so', () => {
    const world = running({ rows: 20, concurrency: 2, retries: 2 });
    world.apply({
      type: 'scale',
      commandId: 's',
      limits: { concurrency: 2, retries: 2, startsPerMinute: 'none' },
    });
    expect(answers(world)).toEqual([
      { id: 's', ok: true, note: 'nothing to change: the limits already have these values' },
    ]);
  });

  it('names the rate before and after, and removes it', () => {
    const { state } = running({ rows: 20, concurrency: 2 });
    expect(changeLimits(state, { startsPerMinute: 600 }).note).toBe('rate none → 600/min');
    expect(changeLimits(state, { startsPerMinute: 'none' }).note).toBe('rate 600/min → none');
    expect(state.params).not.toHaveProperty('startsPerMinute');
  });

  it('to a rate is acknowledged when the groups in flight have answered', () => {
    const world = new World({ rows: 20, concurrency: 2 });
    world.apply({ type: 'scale', commandId: 's', limits: { startsPerMinute: 60 } });
    expect(answers(world)).toEqual([]);
    world.answer(0, ['accepted']);
    expect(answers(world)).toHaveLength(1);
  });

  it('beyond the room of the state is refused, and changes nothing', () => {
    const world = running({ rows: 20, concurrency: 2, retries: 2 });
    const most = mostConcurrency(20);
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: most + 1, retries: 20 } });
    expect(answers(world)).toEqual([
      { id: 's', ok: false, note: `with 20 further attempts a row, the concurrency can be at most ${most}` },
    ]);
    expect(world.state.params).toMatchObject({ concurrency: 2, retries: 2 });
  });

  it('to more retries is refused while the rows in the state leave no room for them', () => {
    const crowd = new Crowd(0, 10_000);
    crowd.answerAll('accepted');
    expect(changeLimits(crowd.state, { retries: 20, concurrency: 1 })).toEqual({
      ok: false,
      note: 'the rows in the batch leave no room for 20 retries each',
    });
    expect(changeLimits(crowd.state, { retries: 1, concurrency: 1 }).ok).toBe(true);
  });

  it('comes with a resume, or keeps the pause if it is refused', () => {
    const world = running({ rows: 20, concurrency: 2 });
    world.apply({ type: 'pause', commandId: 'p' });
    world.apply({ type: 'resume', commandId: 'r', limits: { concurrency: 1_000_000 } });
    expect([world.state.pauses.has('user'), world.state.acknowledgements.at(-1)?.ok]).toEqual([true, false]);
    world.apply({ type: 'resume', commandId: 'again', limits: { concurrency: 4 } });
    expect(world.state.acknowledgements.at(-1)).toEqual({ id: 'again', ok: true, note: 'concurrency 2 → 4' });
    expect([world.state.pauses.size, world.sends.length]).toEqual([0, 1]);
  });
});

describe('limits that no batch can use', () => {
  const unusable: readonly Readonly<Record<string, unknown>>[] = [
    { concurrency: 0 },
    { concurrency: 1.5 },
    { concurrency: 'none' },
    { retries: -1 },
    { retriesByKind: { other: 1 } },
    { retriesByKind: { timeout: 21 } },
    { startsPerMinute: 0 },
    { failAfter: { share: 2 } },
    { failAfter: { rows: 0 } },
    { failAfter: 5 },
    { failAfter: null },
    { failAfter: { share: '0.5' } },
    { retriesByKind: null },
    { constructor: 1 },
    { deadlineAt: 1.5 },
    { maxCostNano: 0 },
    { maxCostNano: 0.5 },
    { maxCostNano: 2e15 },
    { rows: 5 },
    { timing: {} },
  ];

  it.each(unusable)('are refused, and change nothing: %j', (limits) => {
    const world = running({ rows: 9, concurrency: 2 });
    const before = structuredClone(world.state.params);
    world.apply({ type: 'scale', commandId: 's', limits });
    expect(answers(world)).toEqual([
      { id: 's', ok: false, note: `${Object.keys(limits)[0]} cannot be set to this value` },
    ]);
    expect(world.state.params).toEqual(before);
  });

  it('are taken if they need no more space, also by a batch with a higher concurrency than a new one may have', () => {
    const world = running({ rows: 3, concurrency: MAX_CONCURRENCY, retries: MAX_RETRIES });
    const scale = (commandId: string, limits: LimitChange): void =>
      void world.apply({ type: 'scale', commandId, limits });
    scale('rate', { startsPerMinute: 60_000 });
    scale('lower', { concurrency: MAX_CONCURRENCY - 1 });
    scale('again', { concurrency: MAX_CONCURRENCY });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    const refused = world.state.acknowledgements.filter(
      ({ ok, note = '' }) => !ok && !note.startsWith('overtaken'),
    );
    expect(refused).toMatchObject([{ id: 'again', note: expect.stringContaining('can be at most') }]);
    expect(world.state.params).toMatchObject({ startsPerMinute: 60_000, concurrency: MAX_CONCURRENCY - 1 });
  });
});
