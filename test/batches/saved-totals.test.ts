// Rows that were left out of a sheet stay left out when it is saved again, although their numbers change.

import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { noteWatched } from '../../src/library/watched/saved-sheet.ts';
import type { ReadOptions } from '../../src/sheet/sheet-source.ts';
import type { RowRange } from '../../src/options/batch-kinds.ts';
import { input } from '../sheet/laying.ts';
import { ASKED, Place } from './creating.ts';
import { sheetOf, withFurther } from './further.ts';

const inputTypes = [input('prompt', 'string', { required: true }), input('seed', 'int')];
const deployment = { ...ASKED.deployment, inputTypes };

let place: Place;
beforeEach(() => {
  place = new Place();
});

const create = (text: string, more: ReadOptions = {}): Promise<CreatedBatch> => {
  place.write('sheet.csv', text);
  const options = { ...ASKED.options, ...more };
  return place.create('sheet.csv', { options, deployment, answers: { ...ASKED.answers, guesses: 'accept' } });
};

type Save = { readonly rows: number; readonly skipRows: readonly RowRange[] | undefined };

/** The reading of a saved sheet. */
const save = (batch: CreatedBatch, text: string | Uint8Array): Promise<Save> =>
  withFurther(
    place,
    { batch, name: 'sheet.csv', text, declared: { inputTypes }, isSavedAgain: true },
    async (one) => {
      const { laidOut, options } = await sheetOf(one);
      return { rows: laidOut.rows, skipRows: options.skipRows };
    },
  );

const at = (...rows: readonly number[]): readonly RowRange[] => rows.map((row) => ({ from: row, to: row }));

describe('totals that were left out of the first save', () => {
  const FIRST = 'prompt,price\na,1\nb,2\nTotal,3\n';
  const LATER = 'prompt,price\na,1\nnew,4\nb,2\nTotal,7\n';

  it('are left out of the next one, where they stand now and with another sum', async () => {
    expect(await save(await create(FIRST), LATER)).toEqual({ rows: 3, skipRows: at(5) });
  });

  it('are sent in later saves too if the user sends them', async () => {
    expect(await save(await create(FIRST, { totals: 'send' }), LATER)).toEqual({
      rows: 4,
      skipRows: undefined,
    });
  });
});

describe('rows that were left out by their numbers', () => {
  const watching = async (batch: CreatedBatch) =>
    noteWatched(batch, { path: 'sheet.csv', deployment: 'portraits' });

  it.each<[string, string, ReadOptions]>([
    ['that were given', 'prompt\na\nb\n', { skipRows: at(3) }],
    ['of comments beside rows that begin like them', 'prompt\n# all of them\n#ff0000\na\n', {}],
  ])('keep a batch from following its sheet: those %s', async (_, text, more) => {
    await expect(watching(await create(text, more))).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('leaves out rows by their numbers'),
    });
  });

  it('do so no more if they are only totals', async () => {
    await expect(watching(await create('prompt,price\na,1\nTotal,1\n'))).resolves.toBe(undefined);
  });
});

describe('a sheet that was saved again', () => {
  it('is read with the encoding that was confirmed at the first save', async () => {
    const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');
    const batch = await (async () => {
      place.write('sheet.csv', latin('prompt\nÄpfel\n'));
      return place.create('sheet.csv', { deployment, answers: { ...ASKED.answers, guesses: 'accept' } });
    })();
    expect((await save(batch, latin('prompt\nGröße\n'))).rows).toBe(1);
  });
});
