import { describe, expect, it } from 'vitest';
import { read } from '../../src/options/read.ts';
import { OPTIONS } from '../../src/options/table.ts';

describe('a value', () => {
  it('of --grid is a list, a range, or a list of JSON, and no value is there twice', () => {
    const { kind } = OPTIONS.grid;
    expect(read(kind, ['style=oil, ink', 'seed=-1..1,9', 'prompt=["a, b",7]'])).toEqual({
      kept: { style: ['oil', 'ink'], seed: ['-1', '0', '1', '9'], prompt: ['a, b', '7'] },
    });
    expect(read(kind, { seed: 4, big: '18446744073709551614..18446744073709551615' })).toEqual({
      kept: { seed: ['4'], big: ['18446744073709551614', '18446744073709551615'] },
    });
    const wrongOf = (value: unknown): unknown => (read(kind, value) as { readonly wrong?: string }).wrong;
    expect([
      wrongOf({ a: '4..1' }),
      wrongOf({ a: '1..3,2' }),
      wrongOf({ a: '1..99999' }),
      wrongOf({ a: [{}] }),
      wrongOf({ a: 'x,,y' }),
      wrongOf({ a: '[x' }),
      wrongOf({ a: [] }),
      wrongOf({ a: '@prompts.txt' }),
      wrongOf({ a: true }),
    ]).toEqual([
      'a has 4..1, which runs backwards',
      'a has 2 twice',
      'a has more than 10,000 values',
      'a has a value that is neither text nor a number',
      'a has a value that is empty, or none',
      'a has a value that is empty, or none',
      'a has a value that is empty, or none',
      'a names a file',
      'a has a value that is empty, or none',
    ]);
    expect(kind.isKept({ a: [1] })).toBe(false);
  });

  it('of --repeat is a number from 1 or a column', () => {
    const { kind } = OPTIONS.repeat;
    expect(read(kind, 'same:4')).toEqual({ kept: { by: 4, isSame: true } });
    expect(['0', '10001', '', 'same:'].map((text) => 'wrong' in read(kind, text))).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });
});
