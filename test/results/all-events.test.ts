import { beforeEach, describe, expect, it } from 'vitest';
import { allEvents, writeEvents } from '../../src/results/all-events.ts';
import { partName } from '../../src/results/parts.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const FILE = {
  mark: '0123456789abcdef',
  sheet: { rows: 3, isQueued: false, inputs: [] },
} as unknown as BatchFile;
const T = Date.UTC(2026, 10, 22);
const at = (seconds: number): string => new Date(T + seconds * 1_000).toISOString();

/** An attempt that was created, started after a second, and ended. */
const attempt = (number: number, from: number, to: number, outcome = 'succeeded') => ({
  attempt: number,
  outcome,
  run_id: `run-${number}-${from}`,
  gpu_used: 'A10G',
  created_at: at(from),
  ended_at: at(to),
  queue_seconds: 1,
  cold_start_seconds: 0,
  run_seconds: to - from - 1,
  cost_usd: 0.5,
});

describe('the events of a batch', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
  });

  const part = (pass: number, number: number, ...records: readonly object[]): Promise<boolean> =>
    store.create(partName(pass, number), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const read = async (): Promise<readonly unknown[]> => {
    const values: unknown[] = [];
    for await (const event of allEvents(store, FILE)) values.push(event);
    return values;
  };

  it('have start, end, GPU, outcome and cost of each attempt, between the pauses and commands of that time', async () => {
    await part(1, 1, {
      row: 1,
      outcome: 'succeeded',
      attempts: [attempt(1, 0, 5, 'failed'), attempt(2, 6, 9)],
      files: [],
    });
    await part(1, 2, { row: 2, outcome: 'succeeded', attempts: [attempt(1, 20, 29)], files: [] });
    await writeEvents(store, 1, [
      { at: T + 10_000, event: 'paused', kind: 'user' },
      { at: T + 40_000, event: 'notified', note: 'done to slack:ops' },
    ]);
    const values = await read();
    expect(values).toMatchObject([
      {
        at: at(5),
        event: 'attempt',
        row: 1,
        attempt: 1,
        outcome: 'failed',
        started_at: at(1),
        cost_usd: 0.5,
      },
      { at: at(9), event: 'attempt', row: 1, attempt: 2, outcome: 'succeeded', gpu_used: 'A10G' },
      { at: at(10), event: 'paused', kind: 'user' },
      { at: at(29), event: 'attempt', row: 2, created_at: at(20) },
      { at: at(40), event: 'notified', note: 'done to slack:ops' },
    ]);
  });

  it('have each attempt once, although the record of a row that was sent again repeats the earlier ones', async () => {
    const first = attempt(1, 0, 5, 'failed');
    await part(1, 1, { row: 1, outcome: 'failed', attempts: [first], files: [] });
    const before = { outcome: 'failed', attempts: 1 };
    await part(1, 2, {
      row: 1,
      place: 9,
      before,
      outcome: 'succeeded',
      attempts: [first, attempt(2, 10, 15)],
      files: [],
    });
    expect(await read()).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });

  it('are not told without a part that is listed but not there', async () => {
    const listed = { ...store, list: async () => [partName(1, 1).split('/')[1] ?? ''] };
    await expect(Array.fromAsync(allEvents(listed, FILE))).rejects.toMatchObject({ code: 'E504' });
  });

  it('leave out rows that earlier batches bought, and keep attempts without a run', async () => {
    await part(0, 1, {
      row: 1,
      outcome: 'succeeded',
      attempts: [attempt(1, 0, 5)],
      files: [],
      reused_from: 'a#1',
    });
    await part(1, 1, {
      row: 2,
      outcome: 'refused',
      attempts: [{ attempt: 1, outcome: 'refused' }],
      files: [],
    });
    expect(await read()).toEqual([{ event: 'attempt', row: 2, attempt: 1, outcome: 'refused' }]);
  });
});
