import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withIncoming } from '../../../src/batches/incoming-folder.ts';
import type { CreatedBatch } from '../../../src/batches/make-batch.ts';
import { readFromSheet, type FromRequest, type FromSheet } from '../../../src/batches/from/from-sheet.ts';
import { isRunsheetError } from '../../../src/errors/error.ts';
import { RESULT_COLUMNS } from '../../../src/sheet/result-columns.ts';
import { addResults } from '../earlier.ts';
import { Place } from '../creating.ts';

const OPTIONS = { map: {}, set: {}, drop: [], types: {} };
const SHEET = 'sku,prompt,seed\nfox,a fox,18446744073709551615\nowl,an owl,2\ncat,,3\nelk,an elk,4\n';

type SheetLine = Readonly<Record<string, unknown>>;
type More = Omit<Partial<FromRequest>, 'picks'> & { readonly picks?: string };

/** A batch that has ended, with two files in each row. */
class Scene {
  readonly place = new Place();
  batch!: CreatedBatch;

  async open(sheet = SHEET, options: object = {}): Promise<this> {
    this.place.write('animals.csv', sheet);
    this.batch = await this.place.create('animals.csv', {
      options: { ...OPTIONS, keyColumn: 'sku', ...options },
    });
    const { store } = this.batch;
    await addResults(this.batch);
    const path = 'parts/0001-000001.jsonl';
    const records = String(await store.read(path))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { files: readonly { path: string }[] });
    for (const record of records)
      record.files = [...record.files, { ...record.files[0], path: 'outputs/second.png' }];
    await store.write(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    return this;
  }

  asked({ picks, ...more }: More = {}): FromRequest {
    const { out } = this.place;
    return {
      out,
      batchFolder: this.batch,
      options: OPTIONS,
      each: 'row',
      ...more,
      ...(picks === undefined ? {} : { picks: { path: this.place.write('picks.csv', picks) } }),
    };
  }

  /** The lines of the sheet. */
  rows(more: More = {}): Promise<readonly SheetLine[]> {
    return this.sheet(more, ({ copy }) =>
      readFileSync(join(copy.folder, copy.file), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as SheetLine),
    );
  }

  sheet<T>(more: More, use: (sheet: FromSheet) => T): Promise<T> {
    const request = this.asked(more);
    return withIncoming(request, async (folder) => use(await readFromSheet(request, folder)));
  }

  async refusal(more: More): Promise<readonly (string | undefined)[]> {
    const error: unknown = await this.rows(more).catch((thrown: unknown) => thrown);
    if (isRunsheetError(error)) return [error.code, error.message, error.hint];
    throw new Error(`not refused: ${String(error)}`);
  }
}

const scene = (sheet?: string, options?: object) => new Scene().open(sheet, options);

describe('the sheet of the results of a batch', () => {
  it('has the columns of the batch, the first output, and the result columns, with exact inputs', async () => {
    const source = await scene();
    const text = await source.sheet({}, ({ copy }) => readFileSync(join(copy.folder, copy.file), 'utf8'));
    const [first = ''] = text.split('\n');
    expect(Object.keys(JSON.parse(first) as SheetLine)).toEqual([
      'sku',
      'prompt',
      'seed',
      'output',
      ...RESULT_COLUMNS,
    ]);
    expect(first).toContain('"seed":18446744073709551615');
    expect(JSON.parse(first)).toMatchObject({
      sku: 'fox',
      output: 'outputs/of-1/1.png',
      outputs: 'outputs/of-1/1.png outputs/second.png',
      key: 'fox',
      outcome: 'succeeded',
      run_id: `${source.batch.batch}-1`,
    });
  });

  it('has inputs without a column under their own names, and hides the output of an earlier step', async () => {
    const source = await scene(SHEET.replace('sku', 'output'), {
      keyColumn: 'output',
      map: { text: 'prompt' },
      set: { steps: '4' },
    });
    expect(Object.keys((await source.rows())[0] ?? {}).slice(0, 6)).toEqual([
      'output',
      'prompt',
      'seed',
      'text',
      'steps',
      'runsheet_output',
    ]);
    Object.assign(source.batch.file, { from: { batch: 'b', pass: 1, request: 'r' } });
    expect(Object.keys((await source.rows())[0] ?? {}).slice(0, 5)).toEqual([
      'prompt',
      'seed',
      'text',
      'steps',
      'output',
    ]);
  });

  it('has the rows that a condition chooses, on columns, inputs and results', async () => {
    const source = await scene();
    const keys = async (where: string) => (await source.rows({ where })).map(({ key }) => key);
    expect(await keys("seed > 2 and prompt != ''")).toEqual(['fox', 'elk']);
    expect(await keys('row in (4, 2)')).toEqual(['owl', 'elk']);
    expect(await keys('output = outputs/of-3/1.png')).toEqual(['cat']);
  });

  it('has one row for each file if that is asked for, with its number in the key', async () => {
    const source = await scene();
    const rows = await source.rows({ each: 'file', where: 'key = fox' });
    expect(rows.map(({ key, output, outputs }) => [key, output, outputs])).toEqual([
      ['fox-1', 'outputs/of-1/1.png', 'outputs/of-1/1.png'],
      ['fox-2', 'outputs/second.png', 'outputs/second.png'],
    ]);
  });

  it('stops after the limit', async () => {
    const source = await scene();
    expect(await source.rows({ options: { ...OPTIONS, limit: 2 } })).toHaveLength(2);
  });

  it('is the same request for the same rows, however they are chosen, and another one with other options', async () => {
    const source = await scene();
    const request = (more: More): Promise<string> => source.sheet(more, ({ from }) => from.request);
    const whole = await request({});
    expect(await request({ where: "key != ''" })).toBe(whole);
    expect(await request({ picks: 'row\n1\n2\n3\n4\n' })).toBe(whole);
    expect(await request({ where: 'row != 1' })).not.toBe(whole);
    expect(await request({ options: { ...OPTIONS, set: { steps: '40' } } })).not.toBe(whole);
  });

  it('is refused before the batch has ended, with the command that waits', async () => {
    const source = await scene();
    await source.batch.store.write('passes/00002.json', '{}');
    expect(await source.refusal({})).toEqual([
      'E551',
      expect.any(String),
      expect.stringContaining('runsheet wait'),
    ]);
  });

  it('is refused without rows, and without the file that an input needs', async () => {
    const source = await scene();
    expect((await source.refusal({ where: 'row > 9' })).slice(0, 2)).toEqual([
      'E553',
      expect.stringContaining('row > 9'),
    ]);
    await addResults(source.batch, { more: { files: [] } });
    const options = { ...OPTIONS, map: { image: 'output' } };
    expect(await source.refusal({ options })).toEqual([
      'E556',
      expect.stringContaining('row 1 (key fox)'),
      expect.stringContaining("and output != ''"),
    ]);
    expect(await source.rows()).toHaveLength(4);
  });
});

describe('picks', () => {
  it('choose rows by key or number, in their order, and add and replace columns', async () => {
    const source = await scene();
    const byKey = await source.rows({ picks: 'key,strength,prompt\nelk,0.5,a tall elk\nfox,,\n' });
    expect(byKey.map(({ key, strength, prompt, output }) => [key, strength, prompt, output])).toEqual([
      ['elk', '0.5', 'a tall elk', 'outputs/of-4/1.png'],
      ['fox', null, null, 'outputs/of-1/1.png'],
    ]);
    const byRow = await source.rows({ picks: 'row\n3\n1.0\n' });
    expect(byRow.map(({ key }) => key)).toEqual(['cat', 'fox']);
    const eachFile = await source.rows({ picks: 'row\n3\n1\n', each: 'file' });
    expect(eachFile.map(({ key }) => key)).toEqual(['cat-1', 'cat-2', 'fox-1', 'fox-2']);
  });

  it('may be results.csv without the other rows', async () => {
    const source = await scene();
    const header = Object.keys((await source.rows())[0] ?? {}).filter((name) => name !== 'output');
    const rows = await source.rows({ picks: `${header.join(',')}\nowl,an owl,2,2,owl${','.repeat(13)}\n` });
    expect(rows.map(({ key, seed, outcome }) => [key, seed, outcome])).toEqual([['owl', '2', 'succeeded']]);
  });

  it('that the batch does not have are refused with the nearest key', async () => {
    const source = await scene();
    expect(await source.refusal({ picks: 'key\nfox\nfix\nbear\n' })).toEqual([
      'E552',
      `2 rows of picks.csv are not in batch ${source.batch.batch}: key fix, bear`,
      expect.stringContaining('did you mean fox for fix?'),
    ]);
    expect((await source.refusal({ picks: 'row\n9\n' }))[1]).toContain('row 9');
  });

  it.each([
    ['name\nfox\n', 'neither a column "key" nor a column "row"'],
    ['key\nfox\nowl\nfox\n', 'picks key fox twice: rows 1 and 3'],
    ['key,a\n,1\n', 'names no key'],
    ['key\n', 'picks no row'],
  ])('%j is refused: %s', async (picks, what) => {
    const source = await scene();
    expect((await source.refusal({ picks })).slice(0, 2)).toEqual(['E556', expect.stringContaining(what)]);
  });

  it('may use a row several times if another column names the new rows', async () => {
    const source = await scene();
    const options = { ...OPTIONS, keyColumn: 'name' };
    const rows = await source.rows({ options, picks: 'key,name\nfox,a\nowl,b\nfox,c\nfox,d\n' });
    expect(rows.map(({ key, name }) => [key, name])).toEqual([
      ['fox', 'a'],
      ['owl', 'b'],
      ['fox', 'c'],
      ['fox', 'd'],
    ]);
  });

  it('are read with their separator', async () => {
    const source = await scene();
    const rows = await source.rows({
      options: { ...OPTIONS, delimiter: ';' },
      picks: 'key;strength\nfox;0,5\n',
    });
    expect(rows.map(({ strength }) => strength)).toEqual(['0,5']);
  });
});
