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

it('ranges of rows, a header in no row, and repeats are written as the user writes them', () => {
  const options = {
    skipRows: [
      { from: 2, to: 4 },
      { from: 9, to: 9 },
    ],
    headerRow: 0,
  };
  expect(flagsOf(options).flat()).toEqual(
    expect.arrayContaining(['--skip-rows', '2-4,9', '--header-row', 'none']),
  );
  expect(flagsOf({ headerRow: 3 })).toEqual([['--header-row', '3']]);
  expect(flagsOf({ repeat: { by: 4, isSame: true } })).toEqual([['--repeat', 'same:4']]);
  expect(flagsOf({ repeat: { by: 'times' } })).toEqual([['--repeat', 'times']]);
});

it('no range of rows is written as none, because it is an answer', () => {
  expect(flagsOf({ skipRows: [] })).toEqual([['--skip-rows', 'none']]);
});
