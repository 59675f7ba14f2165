import { describe, expect, it } from 'vitest';
import { activitySummary, SUMMARY_BYTES } from '../../src/batch/shown/shown-batch.ts';
import type { SentAttempt } from '../../src/batch/attempt.ts';
import { begin } from '../../src/batch/state/begin.ts';
import { jsonBytes } from '../../src/options/clipped.ts';
import type { Command } from '../../src/batch/commands.ts';
import { placeIn } from '../../src/batch/state/lanes.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { paramsOf } from './params.ts';

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
    [{ type: 'loadPass', pass: 2 }, 'pass 2'],
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
