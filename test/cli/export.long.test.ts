// From a catalogue to an Excel workbook with pictures named by SKU: three commands, none with more than two flags.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textRow, workbook } from '../sheet/xlsx/workbooks.ts';
import { Stage, type Ended } from '../stage/stage.ts';

const ROWS = 300;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 32, coldStartSeconds: 0.1, runSeconds: 0.2 },
]);
const skuOf = (row: number): string => `SKU-${String(row).padStart(4, '0')}`;
const seedOf = (row: number): string => String(123_456_789_012_345_678n + BigInt(row));

describe('a catalogue of 300 rows', () => {
  const stage = new Stage();
  let ended: readonly Ended[] = [];

  beforeAll(async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  });
  afterAll(() => stage.close());

  it('becomes a workbook with pictures in three commands', async () => {
    const cells = (at: number) => [skuOf(at + 1), `=Größe ${at}`, seedOf(at + 1)];
    const lines = Array.from({ length: ROWS }, (_, at) => textRow(...cells(at)));
    const book = await workbook({ rows: `${textRow('sku', 'prompt', 'seed')}${lines.join('')}` });
    copyFileSync(book, stage.path('catalogue.xlsx'));
    ended = [
      await stage.run(['run', 'catalogue.xlsx', '-d', 'portraits', '--key', 'sku']),
      await stage.run(['export']),
      await stage.run(['show', 'SKU-0017']),
    ];
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    const exported = join(stage.batch(), `${stage.batchFile().batch}.xlsx`);
    expect(ended[1]?.stdout.trim()).toBe(exported);
    expect(ended[1]?.stderr).toMatch(/^300 rows, [\d.]+ [kM]B\n {2}open +runsheet open \S+\n$/);
    const reader = join(import.meta.dirname, '../results/export/read-workbook.py');
    const { sheets, pictures } = JSON.parse(execFileSync('python3', [reader, exported]).toString()) as {
      readonly sheets: readonly {
        readonly cells: Readonly<Record<string, unknown>>;
        readonly links: Readonly<Record<string, string>>;
      }[];
      readonly pictures: number;
    };
    const [results] = sheets;
    expect(results?.cells).toMatchObject({ A18: 'SKU-0017', B18: '=Größe 16', C18: seedOf(17) });
    expect(Object.values(results?.links ?? {})).toEqual(
      Array.from({ length: ROWS }, (_, at) => `outputs/${skuOf(at + 1)}.png`),
    );
    expect(pictures).toBe(ROWS);
  });

  it('has a picture of each SKU under its name', () => {
    for (let row = 1; row <= ROWS; row += 1)
      expect(existsSync(join(stage.batch(), 'outputs', `${skuOf(row)}.png`))).toBe(true);
    expect(ended[2]?.stdout).toMatch(/row 17 of .*: succeeded\n {2}key SKU-0017[^]*SKU-0017\.png/);
  });

  it('refuses names that collide, before anything is bought', async () => {
    const bought = (await stage.truth()).length;
    const again = [
      'run',
      'catalogue.xlsx',
      '-d',
      'portraits',
      '--again',
      '--key',
      'sku',
      '--output-name',
      'picture-{skku}',
    ];
    const refused = await stage.run(again);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('did you mean sku?')]);
    stage.write('twice.csv', 'sku,prompt,seed\na,1,1\nA,2,2\n');
    const args = ['run', 'twice.csv', '-d', 'portraits', '--key', 'sku', '--output-name', '{sku}'];
    const collided = await stage.run(args);
    expect([collided.code, collided.stderr]).toEqual([
      5,
      expect.stringContaining('rows 1 and 2 the same name'),
    ]);
    expect((await stage.truth()).length).toBe(bought);
  });
});
