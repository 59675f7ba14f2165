// Small copies of large pictures, as files.

import { mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it, vi } from 'vitest';
import { makeEndedBatch } from '../../../bench/ended-batch.ts';
import { loadConfigWith } from '../../../src/host/settings/config.ts';
import { findBatch } from '../../../src/library/handle/find-batch.ts';
import { openReport } from '../../../src/library/report/opened-report.ts';
import { Servers } from '../../../src/library/servers.ts';
import { copyLarge, type FirstFile } from '../../../src/results/page/small-copies.ts';
import { folderStore } from '../../../src/store/folder.ts';
import { noisePng } from './large-pictures.ts';

/** A picture of 490 kB, one of 10 kB, a file that is no picture, one that is missing, and a row without any. */
const FILES = [
  ['large.png', noisePng(700, 1)],
  ['small.png', noisePng(100, 2)],
  ['broken.png', Buffer.alloc(400_000, 7)],
  ['missing.png', undefined],
  [undefined, undefined],
  ['00001/deep.png', noisePng(600, 3)],
] as const;

async function scene() {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'runsheet-small-'));
  const store = folderStore(folder.path);
  for (const [name, bytes] of FILES) if (bytes !== undefined) await store.write(`outputs/${name}`, bytes);
  const files = async function* (): AsyncGenerator<FirstFile> {
    for (const [at, [name, bytes]] of FILES.entries())
      if (name !== undefined) yield { row: at + 1, path: `outputs/${name}`, bytes: bytes?.length ?? 400_000 };
  };
  return {
    store,
    path: (name: string) => join(folder.path, 'report/small', name),
    copy: (until = Infinity) => copyLarge(store, { rows: FILES.length, files: files() }, until),
    /** The rows of which the page shows the small copy. */
    rows: async (): Promise<readonly number[]> => {
      const [, base64 = ''] =
        /^runsheetSmall\("(.*)"\)\n$/.exec((await store.read('report/small.js')) ?? '') ?? [];
      return [...inflateRawSync(Buffer.from(base64, 'base64'))].flatMap((has, at) => (has ? [at + 1] : []));
    },
    [Symbol.dispose]: () => folder.remove(),
  };
}

describe('small copies', () => {
  it('are made of large pictures that can be decoded, once', async () => {
    using batch = await scene();
    expect(await batch.copy()).toEqual({ made: 2, missing: 0 });
    expect(await batch.rows()).toEqual([1, 6]);
    expect(await sharp(readFileSync(batch.path('large.png.webp'))).metadata()).toMatchObject({
      width: 320,
      height: 320,
    });
    const [first] = [readFileSync(batch.path('00001/deep.png.webp'))];
    writeFileSync(batch.path('00001/deep.png.webp'), 'kept');
    expect(await batch.copy()).toEqual({ made: 0, missing: 0 });
    expect(readFileSync(batch.path('00001/deep.png.webp'), 'utf8')).toBe('kept');
    rmSync(batch.path('00001/deep.png.webp'));
    expect(await batch.copy()).toEqual({ made: 1, missing: 0 });
    expect(readFileSync(batch.path('00001/deep.png.webp'))).toEqual(first);
  });

  it('that did not fit into the time are missing, and the next call makes them', async () => {
    using batch = await scene();
    expect(await batch.copy(performance.now())).toMatchObject({ made: 0, missing: 4 });
    expect(await batch.rows()).toEqual([]);
    expect(await batch.copy()).toEqual({ made: 2, missing: 0 });
  });

  it('need the decoder of pictures', async () => {
    using batch = await scene();
    vi.doMock('sharp', () => {
      throw new Error('not installed');
    });
    try {
      expect(await batch.copy()).toBeUndefined();
      expect(await batch.store.exists('report/small.js')).toBe(false);
    } finally {
      vi.doUnmock('sharp');
    }
  });
});

describe('a batch whose folder takes no small copies', () => {
  it('is opened without them', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'runsheet-small-'));
    mkdirSync(join(folder.path, 'batch'));
    makeEndedBatch(join(folder.path, 'batch'), { rows: 3 });
    const batch = await findBatch(loadConfigWith({ RUNSHEET_OUT: folder.path }), 'batch');
    const open = () =>
      openReport(new Servers({ store: folder.path }), batch, { isServed: false, smallCopiesMs: 1_000 });
    expect((await open()).smallCopies).toEqual({ made: 0, missing: 0 });
    rmSync(join(folder.path, 'batch/report'), { recursive: true });
    writeFileSync(join(folder.path, 'batch/report'), 'a file where the folder would be');
    const { path, smallCopies } = await open();
    expect(path).toBe(join(folder.path, 'batch/report.html'));
    expect(smallCopies).toBeUndefined();
  });
});
