import { expect, it } from 'vitest';
import { brokenRule } from '../../src/options/excludes.ts';

it('options that exclude each other are found, whatever the others are', () => {
  expect(brokenRule({ retries: 3, ladder: ['T4', 'L4'], gpu: 'H100' })?.both).toEqual(['ladder', 'gpu']);
  expect(brokenRule({ concurrency: { auto: 8 }, ladder: ['T4', 'L4'] })?.both).toEqual([
    'concurrency',
    'ladder',
  ]);
});

it('options that are absent, false or of other values exclude none', () => {
  expect(brokenRule({ ladder: ['T4'], gpu: undefined })).toBeUndefined();
  expect(brokenRule({ ladder: ['T4'], concurrency: 8 })).toBeUndefined();
  const rules = [{ both: ['a', 'b'], hint: '' }] as const;
  expect([brokenRule({ a: true, b: false }, rules), brokenRule({ a: true, b: 1 }, rules)]).toEqual([
    undefined,
    rules[0],
  ]);
});
