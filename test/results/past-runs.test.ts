// Earlier batches in real folders, with parts as the worker writes them.

import { FILE } from '../store/batch-facts.ts';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { partName } from '../../src/results/parts.ts';
import { readPastRuns } from '../../src/results/past-runs.ts';
import type { AttemptRecord, PartRecord } from '../../src/results/row-record.ts';
import { createBatchFile, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

let out = '';
beforeEach(() => {
  out = freshFolder();
});

const WANTED = { deployment: 'portraits-id', base: 'local', gpus: ['A10G'] };
const STARTED = Date.parse('2026-11-01T10:00:00Z');

const attemptOf = (attempt: Partial<AttemptRecord> = {}): AttemptRecord => ({
  attempt: 1,
  outcome: 'succeeded',
  gpu_used: 'A10G',
  cold_start_seconds: 0.5,
  run_seconds: 4,
  ...attempt,
});

const recordOf = (row: number, record: Partial<PartRecord> = {}): PartRecord => ({
  row,
  outcome: 'succeeded',
  attempts: [attemptOf({ created_at: new Date(STARTED + row * 1000).toISOString() })],
  files: [],
  ...record,
});

type Changed = Partial<Pick<BatchFile, 'createdAt' | 'concurrency' | 'deployment'>> & {
  readonly base?: string;
  readonly columns?: string[];
};

/** A batch with these parts, by name or in order. */
async function make(
  batch: string,
  parts: readonly (readonly PartRecord[] | string)[],
  { base = 'local', columns = ['prompt'], ...changed }: Changed = {},
  pass = 1,
): Promise<void> {
  const store = folderStore(join(out, batch));
  for (const [at, part] of parts.entries()) {
    const text =
      typeof part === 'string' ? part : part.map((record) => `${JSON.stringify(record)}\n`).join('');
    await store.write(partName(pass, at + 1), text, 'cached');
  }
  await createBatchFile(store, {
    ...FILE,
    batch,
    createdAt: '2026-11-01T10:00:00Z',
    sheet: { ...FILE.sheet, columns, inputs: [], rows: 1_000_000, pages: 2_000 },
    deployment: { id: 'portraits-id', gpu: 'A10G', concurrencyLimit: 2 },
    service: { ...FILE.service, base },
    concurrency: 2,
    ...changed,
  });
}

const rows = (first: number, last: number): readonly PartRecord[] =>
  Array.from({ length: last - first + 1 }, (_, at) => recordOf(first + at));

/** A row whose run took this long. */
const timed = (row: number, run_seconds = row): PartRecord => ({
  ...recordOf(row),
  attempts: recordOf(row).attempts.map((attempt) => ({ ...attempt, run_seconds })),
});

describe('the samples from earlier batches', () => {
  it('come from batches of this deployment on this service, newest first', async () => {
    await make('old', [rows(1, 4)], { createdAt: '2026-10-01T10:00:00Z' });
    await make('new', [rows(1, 3)], { createdAt: '2026-11-02T10:00:00Z' });
    await make('empty', [], { createdAt: '2026-11-03T10:00:00Z' });
    await make('elsewhere', [rows(1, 5)], { base: 'https://example.com/api' });
    await make('other', [rows(1, 5)], { deployment: { id: 'another-id' } });
    const { batches, samples } = await readPastRuns(out, WANTED);
    expect(batches).toEqual(['new', 'old']);
    expect(samples.map(({ batch }) => batch)).toEqual([...Array(3).fill('new'), ...Array(4).fill('old')]);
  });

  it('have the paid seconds of every run of a row, and none of rows that have not succeeded', async () => {
    const failed = attemptOf({ outcome: 'failed', run_seconds: 1, gpu_used: 'A10G' });
    await make('b', [
      [
        recordOf(1, { attempts: [failed, attemptOf({ attempt: 2, cold_start_seconds: -1 })] }),
        recordOf(2, { outcome: 'failed', attempts: [{ attempt: 1, outcome: 'absent' }, failed] }),
        recordOf(3, { outcome: 'refused', attempts: [{ attempt: 1, outcome: 'refused' }] }),
        recordOf(4, { outcome: 'cancelled' }),
        recordOf(5, { outcome: 'unknown' }),
        recordOf(6, { attempts: [{ attempt: 1, outcome: 'succeeded', gpu_used: 'A10G' }] }),
      ],
    ]);
    const { samples } = await readPastRuns(out, WANTED);
    const run = { coldStart: 0.5, run: 1 };
    expect(samples.map(({ runs }) => runs)).toEqual([[run, { coldStart: 0, run: 4 }]]);
  });

  it('are none of rows that failed or ran out of time, however many there are', async () => {
    const short = attemptOf({ outcome: 'failed', run_seconds: 0.2 });
    const failed = Array.from({ length: 20 }, (_, at) =>
      recordOf(at + 1, { outcome: at < 10 ? 'failed' : 'timed-out', attempts: [short] }),
    );
    await make('failed', [failed], { createdAt: '2026-11-02T10:00:00Z' });
    await make('good', [[recordOf(1)]]);
    const { samples, batches } = await readPastRuns(out, WANTED);
    expect(batches).toEqual(['good']);
    expect(samples.map(({ runs }) => runs)).toEqual([[{ coldStart: 0.5, run: 4 }]]);
  });

  it('know the rows that were sent first, although others ended earlier', async () => {
    await make('b', [
      [timed(3), timed(2)],
      [timed(4), timed(1)],
      [timed(5), timed(6)],
    ]);
    const { samples } = await readPastRuns(out, WANTED);
    const opening = samples.filter(({ isOpening }) => isOpening);
    expect(opening.map(({ runs: [run] }) => run?.run)).toEqual([1, 2]);
    expect(samples).toHaveLength(6);
  });

  it('are the rows that a batch bought, not those that it reused', async () => {
    const reused = (row: number): PartRecord => recordOf(row, { attempts: [], reused_from: 'older#1' });
    const parts = Array.from({ length: 10 }, (_, at) =>
      Array.from({ length: 100 }, (__, nth) => reused(at * 100 + nth + 1)),
    );
    await make('b', parts, {}, 0);
    await make('b', [[recordOf(1001), recordOf(1002)]]);
    const { samples } = await readPastRuns(out, WANTED);
    expect(samples.map(({ isOpening }) => isOpening)).toEqual([true, true]);
  });

  it('have the queue time only if the batch sent no more than the deployment executes', async () => {
    const waited = [recordOf(1, { attempts: [attemptOf({ queue_seconds: 7 })] })];
    await make('calm', [waited], { createdAt: '2026-11-02T10:00:00Z' });
    await make('crowded', [waited], { concurrency: 4 });
    const { samples } = await readPastRuns(out, WANTED);
    expect(samples.map(({ queueSeconds }) => queueSeconds)).toEqual([7, undefined]);
  });

  it('take the later record of a row that a rebuilt batch wrote again', async () => {
    await make('b', [rows(1, 2), rows(3, 3)]);
    await make('b', [[timed(3, 99)], rows(4, 4)], {}, 2);
    const { samples } = await readPastRuns(out, WANTED);
    expect(samples.flatMap(({ runs }) => runs.map(({ run }) => run))).toEqual([4, 4, 99, 4]);
  });

  it('are a few hundred of a huge batch, from its beginning, middle and end', async () => {
    // The run time of a row tells its part.
    const part = (_: unknown, at: number) =>
      Array.from({ length: 10 }, (__, nth) => timed(10 * at + nth + 1, at));
    await make('huge', Array.from({ length: 600 }, part));
    const { samples } = await readPastRuns(out, WANTED);
    expect(samples.length).toBeGreaterThanOrEqual(300);
    expect(samples.length).toBeLessThanOrEqual(330);
    const quarters = samples.map(({ runs: [run] }) => Math.floor((run?.run ?? 0) / 150));
    for (const quarter of [0, 1, 2, 3])
      expect(quarters.filter((candidate) => candidate === quarter).length).toBeGreaterThan(60);
  });

  it('are bounded by parts if each has one row, and by bytes if rows have long texts', async () => {
    await make(
      'slow',
      Array.from({ length: 400 }, (_, at) => rows(at + 1, at + 1)),
    );
    expect((await readPastRuns(out, WANTED)).samples).toHaveLength(100);
    const texts = ['x'.repeat(1024 * 1024)];
    const long = [0, 20].map((from) => rows(from + 1, from + 20).map((record) => ({ ...record, texts })));
    await make('long', long, { createdAt: '2026-11-02T10:00:00Z' });
    const { samples } = await readPastRuns(out, WANTED);
    const own = samples.filter(({ batch }) => batch === 'long');
    expect(own.length).toBeGreaterThan(10);
    expect(own.length).toBeLessThan(20);
  });

  it('come from no more batches than needed', async () => {
    for (const day of [1, 2, 3, 4, 5])
      await make(`b${day}`, [rows(1, 100), rows(101, 200)], { createdAt: `2026-11-0${day}T10:00:00Z` });
    expect((await readPastRuns(out, WANTED)).batches).toEqual(['b5', 'b4', 'b3']);
    const more = await readPastRuns(out, { ...WANTED, gpus: ['A10G', 'H100'] });
    expect(more.batches).toEqual(['b5', 'b4', 'b3', 'b2', 'b1']);
  });

  it('leave out a batch that cannot be read', async () => {
    await make('damaged', ['{"row":1,']);
    await make('sound', [rows(1, 3)]);
    expect((await readPastRuns(out, WANTED)).batches).toEqual(['sound']);
  });

  it('show the GPU of rows that name none, from a batch without such names', async () => {
    const on = (gpu_used: string) => [recordOf(1, { attempts: [attemptOf({ gpu_used })] })];
    await make('named', [on('H100')], { columns: ['gpu'], createdAt: '2026-11-02T10:00:00Z' });
    expect((await readPastRuns(out, WANTED)).ownGpu).toBeUndefined();
    await make('plain', [on('L4')]);
    expect((await readPastRuns(out, WANTED)).ownGpu).toBe('L4');
  });

  it('are none if there is no folder of batches', async () => {
    expect(await readPastRuns(join(out, 'nowhere'), WANTED)).toEqual({ samples: [], batches: [] });
  });
});
