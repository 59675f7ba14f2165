import { expect, it } from 'vitest';
import { saveLine } from '../../src/cli/run/watch-sheet.ts';

it('the line of a save says how many rows may first run with their old inputs', () => {
  const save = {
    rows: 20_010,
    changed: 20_010,
    appended: 0,
    deleted: 0,
    runs: 20_010,
    waiting: 20_010,
    sent: 0,
    others: [],
    estimate: undefined,
  };
  expect(saveLine(new Date(), { ...save, unheld: 10 })).toMatch(/; 10 rows too many to hold back: may first/);
  expect(saveLine(new Date(), { ...save, unheld: 0 })).not.toContain('hold back');
});
