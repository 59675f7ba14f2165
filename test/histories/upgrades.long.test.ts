// Replays recorded batches of older versions with the code of today, and those of the newest with the code of a release after it.

import { describe, expect, it } from 'vitest';
import { READS, WRITES } from '../../src/batch/behaviour-version.ts';
import { bundleOf } from '../workflows/generations.ts';
import { OLDER, readRecording, RECORDINGS } from './recording.ts';
import { errorsOf } from './replay.ts';

describe('recorded histories', () => {
  it('of older versions replay', async () => {
    expect(OLDER.size).toBeGreaterThan(3);
    const histories = new Map([...OLDER].map((name) => [name, readRecording(name)]));
    expect(await errorsOf(histories)).toEqual(new Map([...OLDER].map((name) => [name, undefined])));
  });

  it('replay with a release that starts batches in a newer version and handles those differently', async () => {
    const newer = await bundleOf({ reads: READS + 1, writes: READS + 1 });
    const newest = new Map(RECORDINGS.filter((name) => name.startsWith(`version-${WRITES}/`)).map((name) => [name, readRecording(name)]));
    expect(newest.size).toBeGreaterThan(3);
    expect([...(await errorsOf(newest, newer)).values()]).toEqual([...newest].map(() => undefined));
  });
});
