import { expect, it } from 'vitest';
import { killsOf } from '../../src/cli/demo/kills.ts';
import { picture, closingLines } from '../../src/cli/demo/demo.ts';

const RACE = {
  rows: 120,
  kills: 9,
  runsheet: { done: 120, runs: 120, twice: 0, costUsd: 0.09 },
  loop: { done: 61, runs: 312, twice: 192, costUsd: 0.21 },
};

it('kills at the same moments for the same seed, and at others for another one', () => {
  expect(killsOf(1, 9)).toEqual(killsOf(1, 9));
  expect(killsOf(2, 9)).not.toEqual(killsOf(1, 9));
  expect(killsOf(1, 9).every(({ gapMs, worker }) => gapMs >= 1_500 && gapMs < 4_500 && worker < 2)).toBe(
    true,
  );
});

it('shows what both have bought side by side, in any width', () => {
  const text = picture(RACE, 100, (_style, line) => line).join('\n');
  expect(text).toMatch(/rows done +█+ 120\/120 +█+░+ 61\/120/);
  expect(text).toMatch(/bought twice +0 +192/);
  for (const columns of [40, 200]) expect(() => picture(RACE, columns, (_style, line) => line)).not.toThrow();
});

it('ends with what both bought', () => {
  expect(closingLines(RACE)).toEqual([
    'runsheet: 120 rows, 120 runs, 0 bought twice, $0.0900, survived 9 kills',
    'loop:     120 rows, 312 runs, 192 bought twice, $0.21, restarted 9 times',
  ]);
});
