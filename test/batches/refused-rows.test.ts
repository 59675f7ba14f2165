// Rows of a new batch that could not be read (`invalid: 'skip'`): they are rows of the batch, and are never sent.

import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { placeReused } from '../../src/batches/reuse/reuse-rows.ts';
import { candidates } from '../../src/batches/append/add-pass.ts';
import { recordOf, rowsOf } from '../../src/results/batch-rows.ts';
import { input } from '../sheet/laying.ts';
import { ASKED, type CreationParams, Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { carriedOut, withFurther } from './further.ts';
import { sentIn } from './rows-of-batch.ts';

const SKIP: CreationParams = {
  options: { ...ASKED.options, invalid: 'skip', keyColumn: 'sku' },
  deployment: {
    ...ASKED.deployment,
    inputTypes: [input('prompt', 'string', { required: true }), input('steps', 'int')],
  },
};

let place: Place;
beforeEach(() => {
  place = new Place();
});

const made = async (name: string, text: string, params: CreationParams = {}): Promise<CreatedBatch> => {
  place.write(name, text);
  const batch = await place.create(name, { ...SKIP, ...params });
  await placeReused(batch);
  return batch;
};

const reusing = (name: string, text: string) =>
  made(name, text, { answers: { earlier: 'reuse' }, decide: async () => 'reuse' });

/** The key, outcome and reason of each row with a record. */
async function settled({ store, file }: CreatedBatch) {
  const rows = await Array.fromAsync(rowsOf(store, file));
  return rows.flatMap((row) => {
    const { key, outcome, reason } = recordOf(row, file);
    return row.record === undefined ? [] : [[key, outcome, reason]];
  });
}

/** The keys of the rows that are sent, in their order. */
async function keysSent(batch: CreatedBatch): Promise<readonly unknown[]> {
  const rows = await Array.fromAsync(rowsOf(batch.store, batch.file));
  const lanes = [...batch.file.sheet.lanes.keys()];
  const sent = await Promise.all(lanes.map((lane) => sentIn(batch, lane)));
  return sent.flat().map((row) => rows[row - 1]?.row.key);
}

describe('a row that cannot be read', () => {
  it('has ended as refused before its batch starts, with code, text and place, and the others are sent', async () => {
    const batch = await made(
      'shop.csv',
      'sku,prompt,steps\npot,a pot,4\npan,a pan,many\ncup,,4\njug,a jug,4\n',
    );
    expect(await settled(batch)).toEqual([
      ['pan', 'refused', 'E202: "many" in column "steps" is not an integer (shop.csv:3:3)'],
      ['cup', 'refused', expect.stringMatching(/^E203: .+ \(shop\.csv:4:2\)$/)],
    ]);
    expect(await keysSent(batch)).toEqual(['pot', 'jug']);
    expect(batch.file.sheet).toMatchObject({ rows: 4, refused: 2, isQueued: true, lanes: [{ places: 2 }] });
    expect(batch.laidOut?.gpus).toEqual({ '': 2 });
  });

  it('is named by a hash of its cells if it has no key, and as a duplicate if another row has its key', async () => {
    const batch = await made('shop.csv', 'sku,prompt,steps\npot,a pot,4\n,a pan,4\npot,a cup,4\n,a pan,4\n', {
      options: { ...ASKED.options, invalid: 'skip', keyColumn: 'sku' },
    });
    const rows = await settled(batch);
    expect(rows.map(([, outcome]) => outcome)).toEqual(['refused', 'refused', 'refused']);
    const [first, second, third] = rows.map(([key]) => String(key));
    expect([first, second]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), 'pot (duplicate)']);
    expect(third).toBe(`${first}-2`);
    expect(await keysSent(batch)).toEqual(['pot']);
  });

  it('is the same row under any reason that lies elsewhere, and another one with other cells', async () => {
    const first = await made('shop.csv', 'sku,prompt,steps\npot,a pot,4\npan,a pan,many\n');
    expect((await made('again.csv', 'sku,prompt,steps\n\npot,a pot,4\n\npan,a pan,many\n')).batch).toBe(
      first.batch,
    );
    const corrected = await made('other.csv', 'sku,prompt,steps\npot,a pot,4\npan,a pan,few\n');
    expect(corrected.batch).not.toBe(first.batch);
  });

  it('is bought once it is corrected, and no other row again', async () => {
    const first = await made('shop.csv', 'sku,prompt,steps\npot,a pot,4\npan,a pan,many\n');
    await addResults(first, { rows: [1] });
    const still = await reusing('still.csv', 'sku,prompt,steps\njug,a jug,1\npot,a pot,4\npan,a pan,many\n');
    expect(still.file.sheet).toMatchObject({ rows: 3, reused: 1, refused: 1 });
    expect(await keysSent(still)).toEqual(['jug']);
    expect((await settled(still)).map(([key, outcome]) => [key, outcome])).toEqual([
      ['pot', 'succeeded'],
      ['pan', 'refused'],
    ]);
    const mended = await reusing('mended.csv', 'sku,prompt,steps\npot,a pot,4\npan,a pan,8\n');
    expect(await keysSent(mended)).toEqual(['pan']);
  });

  it('leaves a batch without any place to send, whose other rows are reused', async () => {
    const first = await made('shop.csv', 'sku,prompt,steps\npot,a pot,4\n');
    await addResults(first);
    const batch = await reusing('next.csv', 'sku,prompt,steps\npan,a pan,many\npot,a pot,4\n');
    expect(batch.file.sheet).toMatchObject({ rows: 2, reused: 1, refused: 1, lanes: [] });
    expect(await settled(batch)).toHaveLength(2);
    expect(readdirSync(batch.folder)).toContain('parts');
  });

  it('is not sent again by a retry, because nothing of it can be sent', async () => {
    const batch = await made('shop.csv', 'sku,prompt,steps\npot,a pot,4\npan,a pan,many\n');
    await addResults(batch, { rows: [1], outcome: 'failed' });
    const { rows } = await candidates(batch, { isWanted: () => true, by: 'me' });
    expect(rows).toBe(1);
  });

  it('is sent in its batch once a corrected sheet is added, and stays as it is with one that is still wrong', async () => {
    const batch = await made('shop.csv', 'sku,prompt,steps\npot,a pot,4\npan,a pan,many\n');
    await addResults(batch, { rows: [1] });
    const declared = { inputTypes: SKIP.deployment?.inputTypes };
    const add = (name: string, text: string) =>
      withFurther(place, { batch, name, text, declared }, async (rows) => [
        rows.further?.sheet.laidOut.refused?.first.map(({ key }) => key),
        await carriedOut(rows),
      ]);
    const wrong = 'sku,prompt,steps\npot,a pot,4\npan,a pan,several\njug,a jug,few\n';
    expect(await add('still.csv', wrong)).toEqual([['pan', 'jug'], undefined]);
    const right = 'sku,prompt,steps\npot,a pot,4\npan,a pan,8\njug,a jug,few\n';
    expect(await add('right.csv', right)).toEqual([['jug'], { pass: 2, appended: 0, changed: 1 }]);
  });
});

describe('a row is skipped', () => {
  const refused = async (text: string, more: CreationParams = {}) => {
    const batch = await made('shop.csv', text, more);
    return (await settled(batch)).map(([key, , reason]) => `${String(key)} ${String(reason).slice(0, 4)}`);
  };
  const GOOD = 'pot,a pot,4\njug,a jug,4\nbowl,a bowl,4\n';

  it('if it has too few or too many cells, no input, the header again, or an open quote', async () => {
    const bad = 'cup,a cup\nlid,a lid,4,5\npan,,\nsku,prompt,steps\nspoon,"a spoon,4\n';
    const reasons = await refused(
      `sku,prompt,steps\n${GOOD}${bad}${GOOD.replaceAll('a ', 'an old ').replaceAll(/^(?=.)/gm, 'x')}`,
    );
    expect(reasons).toEqual([
      expect.stringMatching(/^[0-9a-f]{16} E103$/),
      expect.stringMatching(/^[0-9a-f]{16} E103$/),
      'pan E203',
      'sku E202',
      expect.stringMatching(/^[0-9a-f]{16} E103$/),
    ]);
  });

  it('if it would send nothing of its own to a deployment that requires nothing', async () => {
    const inputTypes = [input('prompt', 'string'), input('style', 'string')];
    const deployment = { ...ASKED.deployment, inputTypes };
    const text = 'sku,prompt,style\npot,a pot,oil\npan,,\nsku,prompt,style\ncup,a cup,\n';
    expect(await refused(text, { deployment })).toEqual(['pan E112', 'sku E112']);
  });

  it('only where the lines behind an open quote cannot be parts of its text that would be sent', async () => {
    const options = { ...ASKED.options, invalid: 'skip', quote: 'csv' } as const;
    const lines = made('list.csv', 'prompt\na pot\n"a pan\nof copper\na jug\n', { options });
    await expect(lines).rejects.toMatchObject({ code: 'E200', byCode: { E103: 1 } });
  });

  it('if its files would have the name of an earlier row, or its priority is no number', async () => {
    const settings = { ...ASKED.settings, outputName: '{prompt}' };
    expect(await refused(`sku,prompt,steps\n${GOOD}pan,a pot,5\n`, { settings })).toEqual(['pan E118']);
    const order = { priority: 'rank' };
    const options = { ...ASKED.options, invalid: 'skip', keyColumn: 'sku', drop: ['rank'] } as const;
    const text = 'sku,prompt,steps,rank\npot,a pot,4,1\njug,a jug,4,first\n';
    expect(await refused(text, { order, options })).toEqual(['jug E202']);
  });
});

describe('a sheet whose rows cannot be read', () => {
  it('is refused if no row is left to send, if a column is missing, and without the option', async () => {
    const none = made('none.csv', 'sku,prompt,steps\npot,a pot,few\npan,a pan,many\n');
    await expect(none).rejects.toMatchObject({ code: 'E200', total: 2 });
    const unmapped = made('unmapped.csv', 'sku,steps\npot,4\npan,many\n');
    await expect(unmapped).rejects.toMatchObject({ code: 'E200', byCode: { E203: 1 } });
    const plain = made('plain.csv', 'sku,prompt,steps\npot,a pot,4\nadded,an egg,1\npan,a pan,many\n', {
      options: { ...ASKED.options, keyColumn: 'sku' },
    });
    await expect(plain).rejects.toMatchObject({
      code: 'E200',
      hint: expect.stringContaining(
        "to run the other rows, and name these as refused: --invalid skip\nto leave these out: --where 'sku != pan'",
      ),
    });
  });
});
