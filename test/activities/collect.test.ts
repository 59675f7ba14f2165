// Parts in a real folder; the service, the files and a disk that is full are what a test says.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { collect } from '../../activities/collect.ts';
import { DeliveredFiles } from '../../activities/delivered-files.ts';
import { partName } from '../../src/batch/ids.ts';
import type { RowEnd } from '../../src/batch/messages.ts';
import type { Tally } from '../../src/batch/tally.ts';
import { runSchema } from '../../src/run-service/contract/run.ts';
import type { RowRecord } from '../../src/results/row-record.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { FileFault, HostFault } from '../../src/run-service/file-faults.ts';
import { downloadOf, handsOf, PLACE, runOf, type Given } from './hands.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

const end = (row: number, outcome: 'succeeded' | 'failed' = 'succeeded'): RowEnd => ({
  row,
  attempts: [{ attempt: 1, outcome, runId: `r${row}` }],
});

describe('writing a part', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-collect-'));
    store = folderStore(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(rows: readonly RowEnd[], given: Partial<Given> = {}): Promise<Tally> {
    const hands = handsOf({
      store,
      service: { getRun: async (id) => runOf(id, 'success', [`http://files/${id}`]) },
      readRows: async (_, numbers) =>
        new Map(numbers.map((row) => [row, { row, key: `k${row}`, inputs: { n: row } }])),
      download: downloadOf(() => Buffer.from('a picture')),
      ...given,
    });
    return new MockActivityEnvironment().run(() => collect(hands, { ...PLACE, part: 1, rows }));
  }

  const records = async (): Promise<readonly RowRecord[]> =>
    ((await store.read(partName(1))) ?? '')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RowRecord);

  it('is the same part twice, and counts what stands in it', async () => {
    const rows = [end(2), end(1, 'failed')];
    const tally = await write(rows);
    const first = await store.read(partName(1));
    expect(await write(rows)).toEqual(tally);
    expect(await store.read(partName(1))).toBe(first);
    expect(tally.outcomes).toMatchObject({ succeeded: 1, failed: 1 });
    expect((await records()).map(({ row, outcome }) => [row, outcome])).toEqual([
      [2, 'succeeded'],
      [1, 'failed'],
    ]);
  });

  it('comes after its files: while one is fetched there is no part', async () => {
    const whenFetched: boolean[] = [];
    await write([end(1)], {
      download: downloadOf(async () => {
        whenFetched.push(await store.exists(partName(1)));
        return Buffer.from('a picture');
      }),
    });
    expect(whenFetched).toEqual([false]);
    expect((await records())[0]?.files).toHaveLength(1);
  });

  it('fails the row whose files never come, and only that', async () => {
    const tally = await write([end(1), end(2)], {
      download: downloadOf((url) => {
        if (url.endsWith('r1')) throw new FileFault('the link has expired', 1);
        return Buffer.from('a picture');
      }),
    });
    expect(tally.outcomes).toMatchObject({ succeeded: 1, failed: 1 });
    expect((await records())[0]).toMatchObject({
      outcome: 'failed',
      reason: 'outputs_missing: file 1 (one.png): the link has expired',
    });
  });

  it('fails no row whose host is away: Temporal tries again, and only that file is fetched then', async () => {
    const fetched: string[] = [];
    let isAway = true;
    const download = downloadOf((url) => {
      fetched.push(url.slice(-2));
      if (isAway && url.endsWith('r1')) throw new HostFault('files', 'files answered 503', 1);
      return Buffer.from('a picture');
    });
    const delivered = new DeliveredFiles();
    const rows = [end(1), end(2), end(3)];
    await expect(write(rows, { download, delivered })).rejects.toThrow('files answered 503');
    expect(await records()).toEqual([]);
    isAway = false;
    expect((await write(rows, { download, delivered })).outcomes).toMatchObject({ succeeded: 3, failed: 0 });
    expect(fetched.toSorted()).toEqual(['r1', 'r1', 'r2', 'r3']);
  });

  it('says with a row what was cut of its texts', async () => {
    const run = runSchema.parse({
      id: 'r1',
      status: 'success',
      outputs: [{ data: { text: Array.from({ length: 1_001 }, () => 'x') } }],
    });
    await write([end(1)], { service: { getRun: async () => run } });
    const [record] = await records();
    expect(record).toMatchObject({ outcome: 'succeeded', reason: expect.stringContaining('cut') });
    expect(record?.texts).toHaveLength(1_000);
  });

  it('writes nothing once it was given up', async () => {
    const environment = new MockActivityEnvironment();
    const begun = Promise.withResolvers<void>();
    const hands = handsOf({
      store,
      service: { getRun: async (id) => runOf(id, 'success', [`http://files/${id}`]) },
      readRows: async () => new Map([[1, { row: 1, key: 'k1', inputs: {} }]]),
      download: (_, { signal }) => {
        begun.resolve();
        return new Promise((__, failed) =>
          signal.addEventListener('abort', () => failed(signal.reason as Error)),
        );
      },
    });
    const writing = environment.run(() => collect(hands, { ...PLACE, part: 1, rows: [end(1)] }));
    await begun.promise;
    environment.cancel();
    await expect(writing).rejects.toThrow('CANCELLED');
    expect(await store.exists(partName(1))).toBe(false);
  });

  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EIO'])(
    'tells the batch of a folder that fails with %s, and writes nothing',
    async (code) => {
      const full: Store = {
        ...store,
        write: async () => {
          throw Object.assign(new Error(`${code}: the disk`), { code });
        },
      };
      await expect(write([end(1)], { store: full })).rejects.toMatchObject({
        type: 'FolderFault',
        nonRetryable: true,
      });
      expect(await records()).toEqual([]);
    },
  );

  it('is tried again by Temporal where the service is what failed', async () => {
    const getRun = async () => {
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    };
    await expect(write([end(1)], { service: { getRun } })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
