// Options are written as their user would write them: as flags of a command, and as members of an object in a program.

import { describe, expect, it } from 'vitest';
import { flagOf, flagsOf, membersOf } from '../../src/options/written-options.ts';

const GIVEN = {
  map: { prompt: 'text', seed: 'number' },
  drop: ['sku', 'price'],
  concurrency: 4,
  set: {},
  order: null,
};

describe('options that a batch keeps', () => {
  it('have flags in lower case', () => {
    expect([flagOf('drop'), flagOf('maxCost')]).toEqual(['--drop', '--max-cost']);
  });

  it('are written as flags, each value on its own, and nothing for what is not given', () => {
    expect(new Set(flagsOf(GIVEN).map((words) => words.join(' ')))).toEqual(
      new Set(['--concurrency 4', '--drop price', '--drop sku', '--map prompt=text', '--map seed=number']),
    );
  });

  it('are written as one word of several values, and as a flag or its opposite', () => {
    const options = { ladder: ['T4', 'A10G'], shuffle: true, poll: false };
    const words = new Set(flagsOf(options).map((flag) => flag.join(' ')));
    expect(words).toEqual(new Set(['--ladder T4,A10G', '--no-poll', '--shuffle']));
  });

  it('are written as members of an object, without empty ones', () => {
    expect(membersOf(GIVEN).toSorted()).toEqual([
      'concurrency: 4',
      'drop: ["sku","price"]',
      'map: {"prompt":"text","seed":"number"}',
    ]);
    expect(membersOf({ drop: null })).toEqual([]);
  });
});
