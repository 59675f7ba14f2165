// Whatever a sheet looks like, none of its rows gets cells of another row.

import { expect, it } from 'vitest';
import { readMutated } from './mutated-sheets.ts';

it('mutated sheets are read rightly, asked about or refused, at least 100 for each second of processor time', async () => {
  expect(await readMutated(1, 800)).toBeGreaterThan(100);
}, 60_000);
