// Rows that were left out of a sheet stay left out when it is saved again, although their numbers change.

import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { withCopy } from '../../src/create-batch/copy-sheet.ts';
import type { CreatedBatch } from '../../src/create-batch/create-batch.ts';
import { leftOutBefore } from '../../src/create-batch/append/append-rows.ts';
import { leftOutOf } from '../../src/sheet/left-out-rows.ts';
import { sourceIn, type Reading } from '../../src/sheet/sheet-source.ts';
import type { RowRange } from '../../src/options/batch-kinds.ts';
import { openStore } from '../../src/store/open-store.ts';
import { input } from '../sheet/laying.ts';
import { ASKED, Place } from './creating.ts';
import { sheetOf, withFurther } from './further.ts';

const inputTypes = [input('prompt', 'string', { required: true }), input('seed', 'int')];
const deployment = { ...ASKED.deployment, inputTypes };

let place: Place;
beforeEach(() => {
  place = new Place();
});

const create = (text: string, more: Reading = {}): Promise<CreatedBatch> => {
  place.write('sheet.csv', text);
  const options = { ...ASKED.options, ...more };
  return place.create('sheet.csv', { options, deployment, answers: { ...ASKED.answers, guesses: 'accept' } });
};

type Save = { readonly rows: number; readonly skipRows: readonly RowRange[] | undefined };

/** What a save is read as. `first`: an earlier save that counts instead of the batch. */
async function save(batch: CreatedBatch, text: string, reading: Reading = {}, first?: string): Promise<Save> {
  const copying = { out: place.out, stdin: Readable.from([]) };
  const { skipRows } = reading;
  const before = async () => {
    if (first === undefined) return leftOutBefore(batch, { name: 'sheet.csv', skipRows, inputTypes });
    return withCopy(place.write('sheet.csv', first), copying, async (copy) =>
      leftOutOf(
        sourceIn(openStore(copy.folder), copy),
        { ...ASKED.options, format: 'csv', ...reading },
        inputTypes,
      ),
    );
  };
  const leftOut = await before();
  const asked = { batch, name: 'sheet.csv', text, reading, declared: { inputTypes } };
  return withFurther(place, { ...asked, isSavedAgain: true, leftOut }, async (one) => {
    const { laidOut, options } = await sheetOf(one, ({ flags }) => `again with ${flags.flat().join(' ')}`);
    return { rows: laidOut.rows, skipRows: options.skipRows };
  });
}

const at = (...rows: readonly number[]): readonly RowRange[] => rows.map((row) => ({ from: row, to: row }));

describe('totals that were left out of the first save', () => {
  const FIRST = 'prompt,price\na,1\nb,2\nTotal,3\n';
  const LATER = 'prompt,price\na,1\nnew,4\nb,2\nTotal,7\n';

  it('are left out of the next one, where they stand now and with another sum', async () => {
    expect(await save(await create(FIRST), LATER)).toEqual({ rows: 3, skipRows: at(5) });
  });

  it('are so too if the command gave their number, and no other row is left out for it', async () => {
    const batch = await create(FIRST, { skipRows: at(4) });
    expect(await save(batch, LATER, { skipRows: at(4) })).toEqual({ rows: 3, skipRows: at(5) });
  });

  it('do not speak for other totals, and the message has the command with the rows of now', async () => {
    const batch = await create('prompt,price\na,1\nx,\nTotal,3\n', { skipRows: at(3, 4) });
    const text = 'prompt,price\nnew,4\na,1\nx,\nTotal,5\nGrand total,9\n';
    await expect(save(batch, text, { skipRows: at(3, 4) })).rejects.toMatchObject({
      code: 'E111',
      exit: 5,
      hint: 'if they are right: again with --totals skip --skip-rows 4',
    });
  });

  it('are sent in later saves too if the user sends them', async () => {
    const batch = await create(FIRST, { skipRows: [] });
    expect(await save(batch, LATER, { skipRows: [] })).toEqual({ rows: 4, skipRows: [] });
    expect(await save(batch, LATER)).toEqual({ rows: 4, skipRows: [] });
  });

  it('are known by the sheet as it is now if the command gives other numbers than the batch has', async () => {
    const batch = await create(FIRST);
    expect(await leftOutBefore(batch, { name: 'sheet.csv', skipRows: at(5), inputTypes })).toBe(undefined);
    expect(await leftOutBefore(batch, { name: 'other.csv', skipRows: undefined, inputTypes })).toBe(
      undefined,
    );
    expect(await save(batch, LATER.replace('a,1\n', ''), { skipRows: at(5) }, LATER)).toEqual({
      rows: 2,
      skipRows: at(4),
    });
  });
});

describe('other rows that were left out of the first save', () => {
  it('are known by their text, the second of two equal ones too', async () => {
    const batch = await create('prompt,note\na,x\na,x\nb,y\nc,z\n', { skipRows: at(3, 4) });
    const later = 'prompt,note\nnew,w\na,x\nb,y\nnewer,w\na,x\nc,z\n';
    expect(await save(batch, later)).toEqual({ rows: 4, skipRows: at(4, 6) });
    expect(await save(batch, later, { limit: 2 })).toMatchObject({ rows: 2, skipRows: at(4, 6) });
  });

  it('stop a save in which they have changed, because it could buy them', async () => {
    const batch = await create('prompt,note\na,x\nb,y\nc,z\n', { skipRows: at(3) });
    await expect(save(batch, 'prompt,note\na,x\nb,changed\nc,z\n')).rejects.toMatchObject({
      code: 'E112',
      message: 'rows of sheet.csv that were left out are gone or have changed: "b y"',
    });
  });
});

describe('a sheet that was saved again', () => {
  it('is read with the encoding that was confirmed at the first save', async () => {
    const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');
    const batch = await (async () => {
      place.write('sheet.csv', latin('prompt\nÄpfel\n'));
      return place.create('sheet.csv', { deployment, answers: { ...ASKED.answers, guesses: 'accept' } });
    })();
    const text = latin('prompt\nGröße\n');
    const asked = { batch, name: 'sheet.csv', text, declared: { inputTypes }, isSavedAgain: true };
    const rows = await withFurther(place, asked, async (one) => (await sheetOf(one)).laidOut.rows);
    expect(rows).toBe(1);
  });
});
