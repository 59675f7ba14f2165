import { expect, it } from 'vitest';
import { begin } from '../../src/batch/state/begin.ts';
import { currentDetails } from '../../src/batch/shown/shown-batch.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { tallyOutcome } from '../../src/batch/accounting/tally.ts';
import { paramsOf } from './params.ts';

it('the page of a batch counts its rows', () => {
  const state = begin(paramsOf({ batch: 'b', rows: 4 }), 1, 0);
  state.tally = tallyOutcome(state.tally, 'succeeded', 2);
  expect(currentDetails(progress(state)).split('\n')).toEqual([
    '**running**',
    '',
    '| | |',
    '|---|---|',
    '| rows | 2 of 4 done |',
    '| succeeded | 2 |',
    '| without success | 0 |',
    '| running | 0 |',
    '| unconfirmed | 0 |',
    '| to send | 4 |',
    '| cost | $0.00 |',
  ]);
});

it('the page of a batch with failed rows or pauses says so first, and text of others is no Markdown', () => {
  const state = begin(paramsOf({ batch: 'b', rows: 4, maxCostNano: 2e9 }), 1, 0);
  state.tally = tallyOutcome(state.tally, 'failed');
  pause(state, 'blocked', '**401**\n[click](http://x)');
  const text = currentDetails(progress(state));
  expect(text).toMatch(/^\*\*paused, 1 row without success\*\*\n/);
  expect(text).toContain('| cost | $0.00 of $2.00 |');
  expect(text).toContain(String.raw`- paused (blocked): \*\*401\*\* \[click\]\(http://x\)`);
  state.tally = tallyOutcome(state.tally, 'refused');
  expect(currentDetails(progress(state))).toContain('2 rows without success');
});
