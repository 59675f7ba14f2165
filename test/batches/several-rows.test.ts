// A batch that makes several rows of each row of its sheet, and what becomes of it later.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Appended } from '../../src/batches/append/append-rows.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { headerOf, rowsWithCells } from '../../src/results/results.ts';
import type { BatchRow } from '../../src/results/batch-rows.ts';
import { ASKED, Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { carriedOut, withFurther } from './further.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('sheet.csv', 'id,prompt\na,one\nb,two\n');
});

const GRID = { style: ['oil', 'ink'] };
const KEYED = { ...ASKED.options, keyColumn: 'id' };

const add = (batch: CreatedBatch, name: string, text: string, isSavedAgain = false) =>
  withFurther(place, { batch, name, text, isSavedAgain }, carriedOut);

async function rowsOf({ store, file }: CreatedBatch): Promise<readonly string[]> {
  const rows: string[] = [];
  const shown = ({ row: { row, key, inputs } }: BatchRow) => ({
    row,
    key,
    inputs,
    outcome: '',
    attempts: [],
    files: [],
  });
  for await (const { record, cells } of rowsWithCells(store, file, shown))
    rows.push(`${record.key}: ${cells.join(' ')}`);
  return rows;
}

describe('a batch with a template', () => {
  it('shows the text of each row in its results, whose file it takes as its own sheet', async () => {
    const set = { prompt: 'a {product}, {{raw}}', note: 'fixed' };
    place.write('products.csv', 'id,product\na,mug\nb,lamp\n');
    const batch = await place.create('products.csv', { options: { ...KEYED, set } });
    const { file } = batch;
    expect(file.sheet.inputs.map(({ input }) => input)).toEqual(['prompt', 'note']);
    expect(headerOf(file).slice(0, 4)).toEqual(['id', 'product', 'sent: prompt', 'row']);
    expect(await rowsOf(batch)).toEqual(['a: a mug a mug, {raw}', 'b: b lamp a lamp, {raw}']);
    place.write('results.csv', `${headerOf(file).join(',')}\na,mug,"a mug, {raw}"${','.repeat(15)}\n`);
    const again = await place.create('results.csv', { options: { ...KEYED, set } });
    expect(again.file.sheet.columns.slice(0, 3)).toEqual(['id', 'product', 'sent: prompt']);
    expect(await rowsOf(again)).toEqual(['a: a mug a mug, {raw}']);
  });
});

describe('a batch with an optional part', () => {
  it('has it in further rows too, and a batch of before keeps its brackets', async () => {
    const set = { prompt: 'a {product} [in {style}]' };
    place.write('styles.csv', 'id,product,style\na,mug,oil\n');
    const batch = await place.create('styles.csv', { options: { ...KEYED, set } });
    await addResults(batch);
    const more = 'id,product,style\nb,lamp,\nc,jug,ink\n';
    await add(batch, 'more.csv', more);
    expect((await rowsOf(batch)).slice(1)).toEqual(['b: b lamp  a lamp ', 'c: c jug ink a jug in ink']);
    const { optionalParts, ...options } = batch.file.sheet.options;
    expect(optionalParts).toBe(true);
    const before = { ...batch, file: { ...batch.file, sheet: { ...batch.file.sheet, options } } };
    await add(before, 'most.csv', 'id,product,style\nd,cup,red\n');
    expect((await rowsOf(batch)).at(-1)).toBe('d: d cup red a cup [in red]');
  });
});

describe('a batch with a grid', () => {
  it('shows the values of each row in its results', async () => {
    const batch = await place.create('sheet.csv', { options: { ...KEYED, grid: GRID } });
    expect(await rowsOf(batch)).toEqual([
      'a-oil: a one oil',
      'a-ink: a one ink',
      'b-oil: b two oil',
      'b-ink: b two ink',
    ]);
  });

  it('combines the rows of a further sheet too, also those of a save', async () => {
    const batch = await place.create('sheet.csv', { options: { ...KEYED, grid: GRID } });
    await addResults(batch);
    expect(await add(batch, 'more.csv', 'id,prompt\nc,three\n')).toMatchObject({ appended: 2, changed: 0 });
    expect((await rowsOf(batch)).slice(4)).toEqual(['c-oil: c three oil', 'c-ink: c three ink']);
    const saved = 'id,prompt\na,better\nb,two\nd,four\n';
    expect(await add(batch, 'sheet.csv', saved, true)).toMatchObject({ appended: 2, changed: 2 });
  });

  it('takes back rows of its own results as they are', async () => {
    const batch = await place.create('sheet.csv', { options: { ...KEYED, grid: GRID } });
    await addResults(batch, { outcome: 'failed' });
    const head =
      'id,prompt,style,row,key,outcome,reason,run_id,gpu_asked,gpu_used,attempts,queue_seconds,cold_start_seconds,run_seconds,cost_usd,outputs';
    const failed = 'a,one,red ink,2,a-ink,failed,,,,,,,,,,';
    expect(await add(batch, 'failures.csv', `${head}\n${failed}\n`)).toMatchObject({
      appended: 0,
      changed: 1,
    });
  });

  it('and drawn seeds makes the same rows of the same sheet, whatever is beside them', async () => {
    const inputTypes = [
      { name: 'prompt', type: 'string', required: true },
      { name: 'seed', type: 'integer', required: false },
    ];
    const params = {
      deployment: { ...ASKED.deployment, inputTypes },
      options: { ...KEYED, repeat: { by: 2 } },
    };
    const first = await place.create('sheet.csv', params);
    place.write('again.csv', 'id,prompt,note\na,one,x\nb,two,y\n');
    const again = await place.create('again.csv', params);
    expect([again.batch, await rowsOf(first)]).toEqual([
      first.batch,
      [/^a-1: a one \d+$/, /^a-2: a one \d+$/, /^b-1: b two \d+$/, /^b-2: b two \d+$/].map((row) =>
        expect.stringMatching(row),
      ),
    ]);
  });
});

describe('a list that a save changes', () => {
  it.each([
    ['1,2,3', '4,3,2', 1],
    ['1', '1,2', 1],
    ['1-3', '2-3', 0],
  ])('buys only its new values: %s becomes %s', async (before, after, added) => {
    place.write('sheet.csv', `id;prompt;seed\na;one;${before}\n`);
    const batch = await place.create('sheet.csv', { options: { ...KEYED, split: ['seed'] } });
    await addResults(batch);
    const saved = (await add(batch, 'sheet.csv', `id;prompt;seed\na;one;${after}\n`, true)) as
      | Appended
      | undefined;
    expect([saved?.appended ?? 0, saved?.changed ?? 0]).toEqual([added, 0]);
  });

  it('buys only the new runs of a row whose number grows', async () => {
    place.write('sheet.csv', 'id,prompt,seed,often\na,one,5,1\n');
    const inputTypes = ['prompt', 'seed'].map((name) => ({
      name,
      type: name === 'seed' ? 'integer' : 'string',
      required: false,
    }));
    const batch = await place.create('sheet.csv', {
      options: { ...KEYED, repeat: { by: 'often' } },
      deployment: { ...ASKED.deployment, inputTypes },
    });
    await addResults(batch);
    const text = 'id,prompt,seed,often\na,one,5,3\n';
    const furtherSheet = { batch, name: 'sheet.csv', text, isSavedAgain: true, declared: { inputTypes } };
    expect(await withFurther(place, furtherSheet, carriedOut)).toMatchObject({ appended: 2, changed: 0 });
  });
});
