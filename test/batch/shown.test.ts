import { describe, expect, it } from 'vitest';
import { tallyOutcome } from '../../src/batch/accounting/tally.ts';
import type { SentAttempt } from '../../src/batch/outcome.ts';
import type { Command } from '../../src/batch/commands.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { searchValues } from '../../src/batch/shown/search-attributes.ts';
import {
  activitySummary,
  currentDetails,
  shownBatch,
  SUMMARY_BYTES,
} from '../../src/batch/shown/shown-batch.ts';
import { begin } from '../../src/batch/state/state.ts';
import { placeIn } from '../../src/batch/state/lanes.ts';
import { jsonBytes } from '../../src/options/text/clipped.ts';
import { paramsOf } from './params.ts';
import { running } from './scenes.ts';

const described = {
  batch: 'owls-1',
  content: 'c0ffee',
  sheet: { name: 'owls.csv', rows: 1200 },
  deployment: { id: 'a243', name: 'portraits' },
  service: { base: 'https://gpu.example' },
  createdAt: '2026-01-02T03:04:05Z',
};

describe('what Temporal shows of a batch from its start', () => {
  it('names rows, deployment and sheet, in its summary and for searches', () => {
    const { summary, details, search } = shownBatch(described);
    expect(summary).toBe('1,200 rows · portraits · owls.csv');
    expect(details).toContain('| created | 2026-01-02T03:04:05Z |');
    expect(search).toEqual({ deployment: 'portraits', sheet: 'owls.csv', rows: 1200, content: 'c0ffee' });
  });

  it('has the id of a deployment without a name', () => {
    const { search } = shownBatch({ ...described, deployment: { id: 'a243' } });
    expect(search.deployment).toBe('a243');
  });

  it('is no Markdown, whatever the sheet is called', () => {
    const name = '*a*|b\n[c](d).csv';
    expect(shownBatch({ ...described, sheet: { name, rows: 1 } }).details).toContain(
      String.raw`| sheet | \*a\*\|b\
\[c\](d).csv |`,
    );
  });
});

const summary = (command: object, params: Partial<BatchParams> = {}): string | undefined =>
  activitySummary(begin(paramsOf({ rows: 100, ...params }), 1, 0), command as Command);

const sent = (lane: number, from: number, count: number, gpu?: string): { attempts: SentAttempt[] } => ({
  attempts: Array.from({ length: count }, (_, at) => ({
    place: placeIn(lane, from + at),
    attempt: 1,
    ...(gpu === undefined ? {} : { gpu }),
  })),
});

describe('the summary of an activity', () => {
  it('of a group names its rows, or counts them if the batch has a queue', () => {
    const group = { type: 'send', group: 1, ...sent(0, 33, 32) };
    expect(summary(group, { placesAreRows: true })).toBe('rows 33–64 → 32 runs');
    expect(summary(group)).toBe('32 rows → 32 runs');
    const lanes = [
      { gpu: 'T4', places: 50 },
      { gpu: 'H100', places: 50 },
    ];
    expect(summary({ type: 'send', group: 1, ...sent(1, 7, 1, 'H100') }, { lanes })).toBe(
      '1 row → 1 run on H100',
    );
  });

  it('of a row that is sent again does not name its place, which is no row number', () => {
    const again = { type: 'send', group: 1, ...sent(0, 101, 1) };
    expect(summary(again, { placesAreRows: true })).toBe('1 row → 1 run');
  });

  it.each([
    [{ type: 'collect', part: 3, rows: [1, 2] }, 'part 3: 2 rows'],
    [{ type: 'poll', poll: 4, runs: [1] }, 'poll 4: 1 run'],
    [{ type: 'reconcile', attempts: [1, 2] }, 'look for 2 unconfirmed attempts'],
    [{ type: 'cancelRuns', runs: [1] }, 'cancel 1 run'],
    [{ type: 'notify', notice: { news: 'done', to: 'slack:ops' } }, 'done to slack:ops'],
    [{ type: 'loadPass', pass: 2 }, 'rows that were added or sent again'],
    [{ type: 'close' }, 'results of 100 rows'],
  ])('of %j is %s', (command, text) => expect(summary(command)).toBe(text));

  it.each(['keepEvidence', 'keepLog', 'publish', 'reportUsage', 'stopGroups', 'wake'])(
    'of %s is missing',
    (type) => {
      expect(summary({ type })).toBeUndefined();
    },
  );

  it('is short, whatever it names: the server refuses long ones, and the batch would stand still', () => {
    const to = `https://example.org/${'a'.repeat(170)}`;
    expect(jsonBytes(summary({ type: 'notify', notice: { news: 'paused', to } }) ?? '')).toBeLessThanOrEqual(
      SUMMARY_BYTES,
    );
  });
});

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
  ]);
  const paid = { ...progress(state), costUsd: 1.5 };
  expect(currentDetails(paid)).toContain('| cost | $1.50 |');
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

it('the search values count every row that has ended without success', () => {
  const shown = progress(running({ rows: 40, concurrency: 6 }).state);
  const outcomes = { ...shown.tally.outcomes, succeeded: 5, failed: 1, 'timed-out': 2 };
  expect(searchValues({ ...shown, tally: { ...shown.tally, outcomes }, costUsd: 0.25 })).toEqual({
    rows: 40,
    failed: 3,
    cost: 0.25,
  });
});
