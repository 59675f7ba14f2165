// Whatever a sheet looks like, none of its rows gets cells of another row.

import { expect, it } from 'vitest';
import { referenceRate } from '../../stage/cpu.ts';
import { readMutated } from './mutated-sheets.ts';

it('mutated sheets are read rightly, asked about or refused, each in the time of six reference texts', async () => {
  referenceRate();
  const before = referenceRate();
  const sheets = await readMutated(1, 800);
  expect(sheets / Math.max(before, referenceRate())).toBeGreaterThan(1 / 6);
}, 60_000);
