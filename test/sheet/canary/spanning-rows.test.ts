import { describe, expect, it } from 'vitest';
import { parseExactly } from '../../../src/batch/digits.ts';
import { traitsOf } from '../../../src/sheet/canary/row-traits.ts';
import { SpanningRows, type ChosenRow } from '../../../src/sheet/canary/spanning-rows.ts';

type Inputs = Readonly<Record<string, unknown>>;

function choose(
  most: number,
  rows: readonly Inputs[],
  laneOf: (at: number) => number = () => 0,
): readonly ChosenRow[] {
  const spanning = new SpanningRows();
  for (const [at, inputs] of rows.entries())
    spanning.add({ row: at + 1, lane: laneOf(at), traits: traitsOf(inputs) });
  return spanning.choose(most);
}

const numbersOf = (chosen: readonly ChosenRow[]): readonly number[] => chosen.map(({ row }) => row);
const many = (count: number, make: (at: number) => Inputs): readonly Inputs[] =>
  Array.from({ length: count }, (_, at) => make(at));

describe('the rows of a canary', () => {
  it('have the smallest and the largest of each number, and the shortest and longest text', () => {
    const rows = many(1_000, (at) => ({
      frames: (at * 7) % 1_009,
      prompt: 'p'.repeat(1 + ((at * 31) % 500)),
    }));
    const why = choose(5, rows).flatMap((one) => one.why);
    expect(why).toEqual(
      expect.arrayContaining(['smallest frames', 'largest frames', 'shortest prompt', 'longest prompt']),
    );
    const largest = choose(5, rows).find((one) => one.why.includes('largest frames'))?.row ?? 0;
    expect(rows[largest - 1]?.['frames']).toBe(Math.max(...rows.map(({ frames }) => Number(frames))));
  });

  it('have each of a few values, also those of a single row and of rows without the input', () => {
    const rows = many(500, (at) => (at === 300 ? {} : { style: at === 400 ? 'oil' : 'photo', seed: at }));
    const why = choose(6, rows).flatMap((one) => one.why);
    expect(why).toEqual(expect.arrayContaining(['style photo', 'style oil', 'no style']));
  });

  it('cover every lane before anything else', () => {
    const chosen = choose(
      3,
      many(900, (at) => ({ seed: at })),
      (at) => (at < 890 ? 0 : at < 899 ? 1 : 2),
    );
    expect(new Set(chosen.map(({ lane }) => lane))).toEqual(new Set([0, 1, 2]));
  });

  it('are different rows, all of them if there are no more, and the same each time', () => {
    const rows = many(40, (at) => ({ seed: at % 3 }));
    expect(new Set(numbersOf(choose(20, rows))).size).toBe(20);
    expect(numbersOf(choose(100, rows)).toSorted((a, b) => a - b)).toEqual(
      many(40, (at) => ({ at: at + 1 })).map(({ at }) => at),
    );
    expect(choose(5, rows)).toEqual(choose(5, rows));
  });

  it('stand for the rows that are like them: the shares of a lane add up to 1', () => {
    const rows = many(1_000, (at) => ({ mode: at % 10 === 0 ? 'upscale' : 'plain' }));
    const chosen = choose(2, rows);
    const shares = Object.fromEntries(chosen.map(({ why, share }) => [why.join(), share]));
    expect(shares).toEqual({ 'mode plain': expect.closeTo(0.9, 1), 'mode upscale': expect.closeTo(0.1, 1) });
    expect(chosen.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
  });

  it('are found among texts, large integers and other values too', () => {
    const rows = [
      { seed: parseExactly('18446744073709551615'), on: true, list: [1] },
      { seed: 1, on: false, list: 'x'.repeat(100) },
      { seed: 2, on: true, list: 'y' },
    ];
    const why = choose(2, rows).flatMap((one) => one.why);
    expect(why).toEqual(expect.arrayContaining(['largest seed', 'on true', 'on false', 'longest list']));
  });
});
