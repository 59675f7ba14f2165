// CSV, JSON lines and zip, and what an export must not replace.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { ExportOptions } from '../../../src/library/handle/exported-batch.ts';
import { CELLS, scene, type Scene } from './scene.ts';

async function written(batch: Scene, options: ExportOptions): Promise<Buffer> {
  return readFileSync((await batch.write(options)).file);
}

type ExportedRow = Record<string, unknown>;

describe('CSV', () => {
  it('has the cells of the sheet as given', async () => {
    using batch = await scene();
    const rows = parse(await written(batch, { as: 'csv' }), { columns: true }) as ExportedRow[];
    expect(rows.map(({ note }) => note)).toEqual(CELLS);
    expect(rows[0]).toMatchObject({ row: '1', outcome: 'succeeded', gpu_used: "'=L4", cost_usd: '0.001600' });
    expect(rows.at(-1)).toMatchObject({ outcome: 'open' });
  });
});

it('JSON lines have the rows with their files and nodes', async () => {
  using batch = await scene(['a', 'b']);
  const [first, last] = String(await written(batch, { as: 'jsonl' }))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ExportedRow);
  expect(first).toMatchObject({ row: 1, files: [{ node: '9' }, { node: '10' }] });
  expect(last).toMatchObject({ row: 2, outcome: 'open' });
});

describe('a zip', () => {
  const listOf = (file: URL): readonly string[] =>
    execFileSync('python3', ['-c', LIST, fileURLToPath(file)])
      .toString()
      .trim()
      .split('\n');
  const LIST =
    'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint("\\n".join(z.namelist()))';

  it('has the files by their names, and results.csv that names them', async () => {
    using batch = await scene(['a', 'b', 'c']);
    const { file, notes } = await batch.write({ as: 'zip' });
    expect(listOf(file)).toEqual([
      'results.csv',
      'outputs/SKU 1.png',
      'outputs/SKU 1~2.png',
      'outputs/SKU 2.png',
    ]);
    expect(notes).toEqual([]);
  });

  it('without a file that was removed says so, and has the others', async () => {
    using batch = await scene(['a', 'b', 'c']);
    rmSync(join(batch.folder, 'outputs/SKU 1.png'));
    const { file, notes } = await batch.write({ as: 'zip' });
    expect(listOf(file)).toHaveLength(3);
    expect(notes).toEqual(['1 files are missing in the batch folder: runsheet verify b-7f3a']);
  });
});

describe('the file of an export', () => {
  it('has the format of its extension', async () => {
    using batch = await scene(['a', 'b']);
    const bytes = await written(batch, { file: join(batch.folder, 'mine.jsonl') });
    expect(JSON.parse(String(bytes).split('\n')[0] ?? '')).toMatchObject({ row: 1 });
  });

  it('appears when it is complete: an export that fails leaves the old one, and no part', async () => {
    using batch = await scene(['a', 'b']);
    const before = await written(batch, { as: 'csv' });
    rmSync(join(batch.folder, 'layout/0123456789abcdef/rows/00001.jsonl'));
    await expect(batch.write({ as: 'csv' })).rejects.toThrow('rows/00001.jsonl');
    await expect(batch.write({ as: 'xlsx' })).rejects.toThrow('rows/00001.jsonl');
    expect(readFileSync(join(batch.folder, 'b-7f3a.csv'))).toEqual(before);
    expect(readdirSync(batch.folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(existsSync(join(batch.folder, 'b-7f3a.xlsx'))).toBe(false);
  });

  it.each(['results.csv', 'batch.json', 'outputs/x.zip', 'layout/x.csv', 'report.html'])(
    'is never %s of the batch',
    async (name) => {
      using batch = await scene(['a', 'b']);
      await expect(batch.write({ as: 'csv', file: join(batch.folder, name) })).rejects.toThrow(
        'belongs to the batch',
      );
    },
  );

  it('is never the sheet of the batch, nor a folder', async () => {
    using batch = await scene(['a', 'b']);
    const sheet = join(batch.folder, 'mine.csv');
    writeFileSync(sheet, 'sku,note\n');
    Object.assign(batch.batchFolder.file.sheet, { bytes: 9, sha256: SHA });
    await expect(batch.write({ as: 'csv', file: sheet })).rejects.toThrow('is the sheet of the batch');
    await expect(batch.write({ as: 'csv', file: join(batch.folder, '..') })).rejects.toThrow('is a folder');
  });

  it('replaces the file of `--file` only with `--replace`', async () => {
    using batch = await scene(['a', 'b']);
    const file = join(batch.folder, 'thesis.csv');
    writeFileSync(file, 'mine');
    await expect(batch.write({ as: 'csv', file })).rejects.toThrow(/thesis\.csv exists/);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    const { rows } = await batch.write({ as: 'csv' });
    expect((await batch.write({ as: 'csv', file, replace: true })).rows).toBe(rows);
  });
});

const SHA = 'c6fac55ff2d4d5d35760fb44b7100d5b93133e52f2ea273ac1543207a3766082';
