import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Command } from '../../src/batch/commands.ts';
import { close } from '../../src/batch/decisions/store-writes.ts';
import { begin } from '../../src/batch/state/state.ts';
import { step } from '../../src/batch/step.ts';
import { paramsOf } from './params.ts';
import { running } from './scenes.ts';

const typesOf = (commands: readonly Command[]): readonly string[] => commands.map(({ type }) => type);

afterEach(() => {
  vi.restoreAllMocks();
});

describe('step', () => {
  it('a step asks to be woken when the next decision is due, and not at all if only an event can make one due', () => {
    const state = begin(paramsOf({ rows: 1, concurrency: 1 }), 1, 0);
    step(state, [{ type: 'started' }], 0);
    expect(typesOf(step(state, [{ type: 'woke' }], 600))).toEqual([]);
    expect(state.wakeAt).toBe(Number.POSITIVE_INFINITY);
    const result = { place: 1, attempt: 1, result: 'not-sent', retryAfterMs: 70.5 } as const;
    const commands = step(
      state,
      [{ type: 'groupEnded', group: 1, results: [result], rest: 'unconfirmed' }],
      700,
    );
    expect(commands.at(-1)).toEqual({ type: 'wake', afterMs: 71 });
  });

  it('a step never asks to be woken for less than a millisecond', () => {
    const state = begin(paramsOf({ rows: 1, concurrency: 1 }), 1, 0);
    step(state, [{ type: 'started' }], 0);
    const result = { place: 1, attempt: 1, result: 'not-sent', retryAfterMs: 0.25 } as const;
    const commands = step(
      state,
      [{ type: 'groupEnded', group: 1, results: [result], rest: 'unconfirmed' }],
      0,
    );
    expect(commands.at(-1)).toEqual({ type: 'wake', afterMs: 1 });
  });

  it('a step of a batch that has finished publishes and does nothing else', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.settle();
    expect(typesOf(world.apply({ type: 'resume' }, { type: 'serviceRead' }))).toEqual(['publish']);
  });

  it('a step ends also if a decision stays due whatever it does: it looks again a second later', () => {
    const state = begin(paramsOf({ rows: 1, concurrency: 1 }), 1, 0);
    vi.spyOn(close, 'dueAt').mockReturnValue(0);
    const act = vi.spyOn(close, 'act').mockReturnValue([]);
    const commands = step(state, [{ type: 'started' }], 0);
    expect(typesOf(commands)).toEqual(['send', 'publish', 'wake']);
    expect(commands.at(-1)).toEqual({ type: 'wake', afterMs: 1_000 });
    expect(act.mock.calls.length).toBeLessThan(1_000);
  });
});
