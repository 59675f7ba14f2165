// Whatever a sheet looks like, none of its rows gets cells of another row.

import { expect, it } from 'vitest';
import { referenceRate } from '../../stage/cpu.ts';
import { readMutated } from './mutated-sheets.ts';

const SLICES = 8;

it('mutated sheets are read rightly, asked about or refused, each in the time of eight reference texts', async () => {
  referenceRate();
  const ratios: number[] = [];
  // The speed of a core changes within seconds, so each slice has references of its own.
  for (let slice = 0; slice < SLICES; slice += 1) {
    const before = referenceRate();
    const sheets = await readMutated(1 + 100 * slice, 100);
    ratios.push(sheets / Math.max(before, referenceRate()));
  }
  const median = ratios.toSorted((a, b) => a - b)[SLICES / 2] ?? 0;
  expect(median).toBeGreaterThan(1 / 8);
}, 60_000);
