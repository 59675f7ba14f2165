// Files of a batch that cannot be read back are named, with their code.

import { FILE } from './batch-facts.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileFault } from '../../src/errors/file-fault.ts';
import { readSummary } from '../../src/results/summary.ts';
import { createBatchFile, layoutOf, readBatchFile } from '../../src/store/batch-file.ts';
import { listBatchFolders, openBatchFolder } from '../../src/store/batch-folders.ts';
import { folderStore } from '../../src/store/folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('batch.json', () => {
  it('is never written with settings that no worker could read', async () => {
    const store = folderStore(freshFolder());
    const wrong = createBatchFile(store, { ...FILE, maxCostNano: Number.NaN });
    await expect(wrong).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('maxCostNano') as string,
    });
    expect(await readBatchFile(store)).toBeUndefined();
  });

  it('is never written larger than it is read back from S3', async () => {
    const store = folderStore(freshFolder());
    const large = (mib: number): BatchFile => ({
      ...FILE,
      sheet: { ...FILE.sheet, outputName: 'é'.repeat(mib << 20) },
    });
    await expect(createBatchFile(store, large(5))).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('8 MiB'),
    });
    expect(await readBatchFile(store)).toBeUndefined();
    expect(await createBatchFile(store, large(3))).toBe(true);
  });

  it.each([
    ['that breaks off', '{"format":2,', /batch\.json is not a batch of this version: it is no JSON/],
    ['of another kind', '{}', /batch\.json is not a batch of this version: format: /],
  ])('%s is refused in one line', async (_, text, message) => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'batch.json'), text);
    const error = await readBatchFile(folderStore(folder)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E504', exit: 5, message: expect.stringMatching(message) });
    expect(String(error)).not.toContain('\n');
  });

  it('of an earlier version is refused with what helps', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'batch.json'), '{"format":1,"batch":"b","cap":4}');
    await expect(readBatchFile(folderStore(folder))).rejects.toMatchObject({
      code: 'E514',
      exit: 5,
      message: expect.stringContaining(folder),
      hint: expect.stringContaining('finish it with the version that made it'),
    });
  });

  it.each([
    ['rows', 1e11],
    ['pages', 1e9],
  ])('with more %s than a batch can have is damaged', async (name, value) => {
    const folder = freshFolder();
    const sheet = { ...FILE.sheet, [name]: value };
    writeFileSync(join(folder, 'batch.json'), JSON.stringify({ ...FILE, sheet }));
    await expect(readBatchFile(folderStore(folder))).rejects.toMatchObject({ code: 'E504' });
  });

  it('of a later version is not taken for one of this', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'batch.json'), JSON.stringify({ ...FILE, format: 3 }));
    await expect(readBatchFile(folderStore(folder))).rejects.toMatchObject({ code: 'E504' });
  });

  it.each(['', 'ABCDEF0123456789', '0123456789abcde', '../../../../etc/x'])(
    'with the birth mark %j, which would name another folder, is refused',
    async (mark) => {
      const folder = freshFolder();
      writeFileSync(join(folder, 'batch.json'), JSON.stringify({ ...FILE, mark }));
      await expect(readBatchFile(folderStore(folder))).rejects.toMatchObject({
        code: 'E504',
        message: expect.stringContaining('mark: '),
      });
    },
  );

  it('is read as it was created, and only the first one is created', async () => {
    const store = folderStore(freshFolder());
    const secondFile = { ...FILE, mark: 'fedcba9876543210' };
    expect([await createBatchFile(store, FILE), await createBatchFile(store, secondFile)]).toEqual([
      true,
      false,
    ]);
    expect(await readBatchFile(store)).toEqual(FILE);
    expect(layoutOf(store, FILE).location).toBe(`${store.location}/layout/${FILE.mark}`);
  });

  it('is absent from a folder that has none', async () => {
    expect(await readBatchFile(folderStore(freshFolder()))).toBeUndefined();
  });

  it('that is a folder has a code as well', async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'batch.json'));
    const error = await readBatchFile(folderStore(folder)).catch((thrown: unknown) => thrown);
    expect(fileFault(error)).toMatchObject({
      code: 'E606',
      message: expect.stringMatching(/it is a folder/),
    });
  });
});

describe('the batches of a place', () => {
  it('are listed newest first, without those that this version cannot read and what is no batch', async () => {
    const out = freshFolder();
    const put = (batch: string, createdAt: string) =>
      createBatchFile(folderStore(join(out, batch)), { ...FILE, batch, createdAt });
    await put('older', '2026-11-20T10:00:00.000Z');
    await put('newer', '2026-11-21T10:00:00.000Z');
    await put('.incoming-1', '2026-11-22T10:00:00.000Z');
    for (const [name, text] of [
      ['old', '{"format":1}'],
      ['torn', '{'],
    ] as const) {
      mkdirSync(join(out, name));
      writeFileSync(join(out, name, 'batch.json'), text);
    }
    mkdirSync(join(out, 'unborn', 'layout'), { recursive: true });
    expect((await listBatchFolders(out)).map(({ batch }) => batch)).toEqual(['newer', 'older']);
    expect(await openBatchFolder(out, 'unborn')).toBeUndefined();
    await expect(openBatchFolder(out, 'old')).rejects.toMatchObject({ code: 'E514' });
  });

  it('are none where there is no folder', async () => {
    expect(await listBatchFolders(join(freshFolder(), 'nowhere'))).toEqual([]);
  });
});

describe('summary.json', () => {
  it('that breaks off is refused', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'summary.json'), '{"batch":');
    await expect(readSummary(folderStore(folder))).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringMatching(/summary\.json/),
    });
  });
});

describe('an error that is none of the file system', () => {
  it.each([
    ['refused', { code: 'ECONNREFUSED', syscall: 'connect' }],
    ['not allowed to listen', { code: 'EACCES', syscall: 'listen' }],
    ['unknown', {}],
  ])('%s is left as it is', (_, facts) => {
    expect(fileFault(Object.assign(new Error('no'), facts))).toBeUndefined();
  });
});
