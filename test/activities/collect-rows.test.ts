// Parts in a real folder; each test defines the service, the files and the errors of the disk.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { collectRows } from '../../activities/collect-rows.ts';
import { DownloadSlots } from '../../activities/download-slots.ts';
import type { PartResult } from '../../src/batch/events.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import { openDownloads } from '../../src/host/http/download.ts';
import { FileFault, HostFault } from '../../src/host/http/download-faults.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import * as of from '../results/outputs.ts';
import { serveForTest } from '../stage/serve.ts';
import { stored } from '../service-client/ranged-file.ts';
import { depsOf, downloadOf, REF, runOf, type DepsOverrides } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

const ended = (row: number, outcome: 'succeeded' | 'failed' = 'succeeded'): EndedRow => ({
  place: row,
  attempts: [{ attempt: 1, outcome, runId: `r${row}` }],
});
const lastTry = (row: number): EndedRow => ({ ...ended(row), isLastTry: true });

/** The same video with two more megabytes of media, of which the last are missing. */
const large = (video: Buffer): Buffer => {
  const box = Buffer.alloc(2 << 20, 1);
  box.writeUInt32BE(3 << 20);
  box.write('mdat', 4);
  return Buffer.concat([video, box]);
};

const PASS = 3;
const PART = partName(PASS, 1);

describe('collecting rows', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
  });

  const inputOf = (own: Partial<DepsOverrides> = {}): DepsOverrides => ({
    store,
    service: { getRun: async (id) => runOf(id, 'success', [`http://files/${id}`]) },
    readRows: async (_, numbers) =>
      new Map(numbers.map((row) => [row, { row, key: `k${row}`, inputs: { n: row } }])),
    download: downloadOf(() => Buffer.from('a picture')),
    ...own,
  });

  const write = (rows: readonly EndedRow[], own: Partial<DepsOverrides> = {}): Promise<PartResult> =>
    new MockActivityEnvironment().run(() =>
      collectRows(depsOf(inputOf(own)), { ...REF, pass: PASS, part: 1, rows }),
    );

  const records = async (): Promise<readonly PartRecord[]> =>
    ((await store.read(PART)) ?? '')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as PartRecord);

  it('writes a part once, and returns the counts of its content', async () => {
    const rows = [ended(2), ended(1, 'failed')];
    const result = await write(rows);
    const first = await store.read(PART);
    expect(await write(rows)).toEqual(result);
    expect(await store.read(PART)).toBe(first);
    expect(result).toMatchObject({
      tally: { outcomes: { succeeded: 1, failed: 1 } },
      deferred: [],
      fetched: 1,
    });
    expect((await records()).map(({ row, outcome }) => [row, outcome])).toEqual([
      [2, 'succeeded'],
      [1, 'failed'],
    ]);
  });

  it('returns the content of a part that another try has written, although this try has more rows', async () => {
    await write([ended(1)]);
    const { tally, deferred } = await write([ended(1), ended(2)]);
    expect(tally.outcomes.succeeded).toBe(1);
    expect(deferred).toMatchObject([{ place: 2, kind: 'host' }]);
    expect(await records()).toHaveLength(1);
  });

  it('overwrites no part: a part with rows of another part is a store failure', async () => {
    await write([ended(1)]);
    await expect(write([ended(2)])).rejects.toMatchObject({ type: 'StoreFailed', nonRetryable: true });
    expect((await records()).map(({ row }) => row)).toEqual([1]);
  });

  it('returns the part of a concurrent try that was written first', async () => {
    const { tally } = await write([ended(1)], {
      download: downloadOf(async () => {
        await store.create(
          PART,
          `${JSON.stringify({ row: 1, outcome: 'failed', attempts: [], files: [] })}\n`,
        );
        return Buffer.from('a picture');
      }),
    });
    expect(tally.outcomes).toMatchObject({ succeeded: 0, failed: 1 });
  });

  it('names the attempts whose cost their runs do not say: no GPU, no price, no times, or no run any more', async () => {
    const whole = { gpu: 'L4', queuedAtMs: 1, startedAtMs: 2, coldStartSeconds: 1, runSeconds: 2 };
    const runsById: Readonly<Record<string, object>> = {
      r1: whole,
      r2: { ...whole, gpu: undefined },
      r3: { ...whole, gpu: 'unknown' },
      r4: { ...whole, coldStartSeconds: undefined },
      r5: { ...whole, runSeconds: -1 },
      // No machine has taken it.
      r6: { status: 'cancelled' },
      r7: { ...whole, status: 'running' },
    };
    const getRun = async (id: string) =>
      runsById[id] ? { ...runOf(id, 'failed'), ...runsById[id] } : undefined;
    const rows = Object.keys(runsById).map((_, at) => ended(at + 1, 'failed'));
    const result = await write([...rows, ended(8, 'failed')], { service: { getRun } });
    expect(result.unpriced).toEqual([2, 3, 4, 5, 7, 8]);
    // A second try reads the same from the part.
    expect(await write([...rows, ended(8, 'failed')], { service: { getRun } })).toEqual(result);
  });

  it('takes the cost that a run tells, whatever the prices are, once it has ended', async () => {
    const runsById: Readonly<Record<string, object>> = {
      r1: { gpu: 'fal', costUsd: 0.025 },
      r2: { gpu: 'L4', queuedAtMs: 1, startedAtMs: 2, coldStartSeconds: 1, runSeconds: 2, costUsd: 0.5 },
      r3: { gpu: 'fal', status: 'running', costUsd: 0.025 },
    };
    const getRun = async (id: string) => ({ ...runOf(id, 'success'), ...runsById[id] });
    const rows = Object.keys(runsById).map((_, at) => ended(at + 1, 'failed'));
    const { unpriced } = await write(rows, { service: { getRun } });
    const costs = (await records()).map(({ attempts }) => attempts[0]?.cost_usd);
    expect([unpriced, costs]).toEqual([[3], [0.025, 0.5, 0.025]]);
  });

  it('counts what a lost machine executed in vain to the seconds and the cost of an attempt', async () => {
    const times = { gpu: 'L4', queuedAtMs: 1, startedAtMs: 2, coldStartSeconds: 1, runSeconds: 2 };
    const lost = { lostExecutions: 1, lostSeconds: 3 };
    const usageOf = async (more: object): Promise<readonly [number | undefined, number | undefined]> => {
      const getRun = async (id: string) => ({ ...runOf(id, 'failed'), ...times, ...more });
      await write([ended(1, 'failed')], { service: { getRun } });
      const attempt = (await records())[0]?.attempts[0];
      rmSync(join(folder, PART));
      expect(attempt?.lost_executions).toBe('lostSeconds' in more ? 1 : undefined);
      return [attempt?.lost_seconds, attempt?.cost_usd];
    };
    const [, without = 0] = await usageOf({});
    expect(await usageOf(lost)).toEqual([3, without * 2]);
  });

  it('leaves attempts that are unknown to the batch, which counts them itself', async () => {
    const lost: EndedRow = { place: 1, attempts: [{ attempt: 1, outcome: 'unknown', runId: 'r1' }] };
    expect(await write([lost], { service: { getRun: async () => undefined } })).not.toHaveProperty(
      'unpriced',
    );
  });

  it('writes the part only after all its files are downloaded', async () => {
    const whenFetched: boolean[] = [];
    await write([ended(1)], {
      download: downloadOf(async () => {
        whenFetched.push(await store.exists(PART));
        return Buffer.from('a picture');
      }),
    });
    expect(whenFetched).toEqual([false]);
    expect((await records())[0]?.files).toHaveLength(1);
  });

  it('defers a row whose file is refused, and fails it only at its last try', async () => {
    const download = downloadOf((url) => {
      if (url.endsWith('r1')) throw new FileFault('the link has expired', 1);
      return Buffer.from('a picture');
    });
    const first = await write([ended(1), ended(2)], { download });
    expect(first.tally.outcomes).toMatchObject({ succeeded: 1, failed: 0 });
    expect(first.deferred).toEqual([
      { place: 1, kind: 'file', reason: 'file 1 (one.bin): the link has expired' },
    ]);
    rmSync(join(folder, PART));
    const last = await write([lastTry(1)], { download });
    expect(last).toMatchObject({ tally: { outcomes: { failed: 1 } }, deferred: [] });
    expect((await records())[0]).toMatchObject({
      outcome: 'failed',
      reason: 'outputs_missing: file 1 (one.bin): the link has expired',
    });
  });

  it.each([
    ['nothing', Buffer.of(), 'one.png', '0 bytes'],
    ['a sign-in page', of.HTML, 'one.png', 'HTML instead of PNG'],
    ['an error', of.ERROR_JSON, 'one.png', 'JSON instead of PNG'],
    ['a truncated picture', of.PNG.subarray(0, -4), 'one.png', 'the PNG is truncated'],
    ['a picture instead of a video', of.PNG, 'clip.mp4', 'PNG instead of MP4'],
    ['a large page', Buffer.concat([of.HTML, Buffer.alloc(2 << 20, ' ')]), 'a.mp4', 'HTML instead of MP4'],
    ['a large truncated video', large(of.MP4), 'a.mp4', 'the MP4 is truncated'],
  ])('has no success for a row whose file is %s, and says so', async (_, content, filename, why) => {
    const { url, asked: requests } = await serveForTest(stored(content));
    const run = (id: string): Run => ({
      ...runOf(id, 'success'),
      outputs: [
        {
          nodeId: '9',
          nodeTitle: undefined,
          files: [{ url: `${url}/${requests.length}`, filename, type: 'output' }],
          texts: [],
        },
      ],
    });
    const own = { service: { getRun: async (id: string) => run(id) }, download: openDownloads(2) };
    expect((await write([ended(1)], own)).deferred).toMatchObject([{ kind: 'file' }]);
    rmSync(join(folder, PART));
    const { tally, fetched } = await write([lastTry(1)], own);
    expect([tally.outcomes.succeeded, tally.outcomes.failed, fetched]).toEqual([0, 1, 0]);
    const [record] = await records();
    expect(record?.reason).toBe(`outputs_missing: file 1 (${filename}): ${why}`);
    expect(await store.list('outputs')).toEqual([]);
  });

  it('defers a row whose file host is down, and downloads only its file at the next try', async () => {
    const fetched: string[] = [];
    let isAway = true;
    const download = downloadOf((url) => {
      fetched.push(url.slice(-2));
      if (isAway && url.endsWith('r1')) throw new HostFault('files', 'files answered 503', 1);
      return Buffer.from('a picture');
    });
    const rows = [ended(1), ended(2), ended(3)];
    const first = await write(rows, { download });
    expect(first).toMatchObject({
      tally: { outcomes: { succeeded: 2, failed: 0 } },
      deferred: [{ place: 1, kind: 'host', reason: 'files: file 1 (one.bin): files answered 503' }],
    });
    isAway = false;
    rmSync(join(folder, PART));
    expect((await write([ended(1)], { download })).tally.outcomes).toMatchObject({ succeeded: 1 });
    expect(fetched.toSorted()).toEqual(['r1', 'r1', 'r2', 'r3']);
  });

  it('defers the rest of a part whose host lets downloads wait for long, but not a row at its last try', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    let requests = 0;
    const download = async (): Promise<never> => {
      requests += 1;
      vi.setSystemTime(Date.now() + 60_000);
      throw new HostFault('files', 'slow: only 200 bytes/s in 1 min', 1);
    };
    const rows = Array.from({ length: 60 }, (_, at) => ended(at + 1));
    const { deferred } = await write(rows, { download }).finally(() => vi.useRealTimers());
    expect(deferred.map(({ kind }) => kind)).toEqual(rows.map(() => 'host'));
    expect(deferred[0]?.waitedMs).toBeGreaterThanOrEqual(60_000);
    expect(new Set(deferred.map(({ reason }) => reason)).size).toBe(1);
    // Only downloads that had begun were requested.
    expect(requests).toBeLessThanOrEqual(16);
    rmSync(join(folder, PART));
    expect((await write([...rows.slice(1), lastTry(1)], { download })).deferred).toHaveLength(59);
  });

  it('defers rows that waited for a slot meanwhile, without a download of their own', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    let requests = 0;
    const download = async (): Promise<never> => {
      requests += 1;
      vi.setSystemTime(Date.now() + 60_000);
      throw new HostFault('files', 'slow: only 200 bytes/s in 1 min', 1);
    };
    const rows = Array.from({ length: 16 }, (_, at) => ended(at + 1));
    const own = { download, downloadSlots: new DownloadSlots(1, 1) };
    const { deferred } = await write(rows, own).finally(() => vi.useRealTimers());
    expect([deferred.length, requests]).toEqual([16, 1]);
  });

  it('defers all rows while the service cannot be read', async () => {
    const getRun = async () => {
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    };
    const { tally, deferred } = await write([ended(1), ended(2, 'failed')], { service: { getRun } });
    expect(tally.outcomes).toMatchObject({ succeeded: 0, failed: 0 });
    expect(deferred.map(({ place, kind }) => [place, kind])).toEqual([
      [1, 'host'],
      [2, 'host'],
    ]);
  });

  it('ignores times and costs if the service returns another run', async () => {
    const strangeRun = { ...runOf('another', 'success'), gpu: 'H100', runSeconds: 1_000 };
    const service = { getRun: async () => strangeRun };
    const { deferred } = await write([ended(1, 'failed')], { service });
    expect(deferred).toMatchObject([
      { place: 1, kind: 'host', reason: expect.stringContaining('another run') },
    ]);
    rmSync(join(folder, PART));
    const last: EndedRow = { ...ended(1, 'failed'), isLastTry: true };
    expect((await write([last], { service })).tally).toMatchObject({ outcomes: { failed: 1 }, gpus: {} });
  });

  it('records in a row which of its texts were cut', async () => {
    const run = runSchema.parse({
      id: 'r1',
      status: 'success',
      outputs: [{ data: { text: Array.from({ length: 1_001 }, () => 'x') } }],
    });
    await write([ended(1)], { service: { getRun: async () => run } });
    const [record] = await records();
    expect(record).toMatchObject({ outcome: 'succeeded', reason: expect.stringContaining('cut') });
    expect(record?.texts).toHaveLength(1_000);
  });

  /** A download that never ends; `started` resolves when it was requested. */
  function endless() {
    const started = Promise.withResolvers<void>();
    const download: DepsOverrides['download'] = (_, { signal }) => {
      started.resolve();
      return new Promise((__, failed) =>
        signal.addEventListener('abort', () => failed(signal.reason as Error)),
      );
    };
    return { download, started: started.promise };
  }

  it('writes nothing after Temporal has abandoned it', async () => {
    const environment = new MockActivityEnvironment();
    const { download, started } = endless();
    const deps = depsOf(inputOf({ download }));
    const writing = environment.run(() =>
      collectRows(deps, { ...REF, pass: PASS, part: 1, rows: [ended(1)] }),
    );
    await started;
    environment.cancel();
    await expect(writing).rejects.toThrow('CANCELLED');
    expect(await store.exists(PART)).toBe(false);
  });

  it('does not wait for slow files when its worker stops', async () => {
    const stopping = new AbortController();
    const { download, started } = endless();
    const posts = { stopping: stopping.signal, began: () => undefined, answered: () => undefined };
    const writing = write([ended(1)], { download, posts });
    await started;
    stopping.abort();
    await expect(writing).rejects.toThrow('aborted');
    expect(await store.exists(PART)).toBe(false);
  });

  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EIO', 'ENOENT', 'ESTALE'])(
    'reports %s of the folder as a store failure, and writes nothing',
    async (code) => {
      const full: Store = {
        ...store,
        create: async () => {
          throw Object.assign(new Error(`${code}: the disk`), { code });
        },
      };
      await expect(write([ended(1)], { store: full })).rejects.toMatchObject({
        type: 'StoreFailed',
        nonRetryable: true,
      });
      expect(await records()).toEqual([]);
    },
  );
});
