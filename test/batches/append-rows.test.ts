// Rows of a further sheet, compared with a batch that has ended or still runs.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Appended } from '../../src/batches/append/append-rows.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { asOption } from '../../src/batches/questions.ts';
import { settle } from '../../src/batches/settle.ts';
import { countRows, rowsOf } from '../../src/results/batch-rows.ts';
import { cacheRows } from '../../src/sheet/placed-rows.ts';
import { placeIn } from '../../src/batch/state/lanes.ts';
import { layoutOf } from '../../src/store/batch-file.ts';
import { readPass } from '../../src/store/passes.ts';
import { ASKED, Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { carriedOut, withFurther } from './further.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('sheet.csv', 'id,prompt,note\na,one,x\nb,two,y\nc,three,z\n');
});

const KEYED = { options: { ...ASKED.options, keyColumn: 'id' } };

function add(
  batch: CreatedBatch,
  name: string,
  text: string,
  between?: () => Promise<unknown>,
  isSavedAgain = false,
) {
  return withFurther(place, { batch, name, text, isSavedAgain }, async (rows) => {
    await between?.();
    return carriedOut(rows);
  });
}

/** The rows of a pass as a worker reads them, in the order of their places. */
async function sentBy({ store, file }: CreatedBatch, { pass }: Appended) {
  const { segments } = await readPass(store, pass);
  const places = segments.flatMap(({ lane, first, count }) =>
    Array.from({ length: count }, (_, at) => placeIn(lane, first + at)),
  );
  const rows = await cacheRows(4)(layoutOf(store, file), file.sheet, places);
  return places.map((at) => rows.get(at));
}

describe('a further sheet', () => {
  it('with a row of totals is refused, with the flag that leaves it out', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await expect(add(batch, 'totals.csv', 'id,prompt,note\nd,4,\nTotal,,\n')).rejects.toMatchObject({
      code: 'E111',
      hint: 'if they are right, add: --totals skip',
    });
  });

  it('with a guess is added as guessed once its user has confirmed it', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    const text = 'id,prompt,note\nd,4,\nTotal,,\n';
    const questionIds: string[] = [];
    const added = await withFurther(place, { batch, name: 'totals.csv', text }, (rows) =>
      settle(rows, {
        wording: asOption,
        ask: async ({ id }, _, [yes]) => {
          questionIds.push(id);
          return yes;
        },
      }),
    );
    expect([questionIds, added]).toEqual([['guesses'], { pass: 2, appended: 1, changed: 0 }]);
  });

  it('with several values above its header is refused, unless it is a save and the batch has this header', async () => {
    const text = 'Campaign,,of Ann\nid,prompt,note\na,one,x\n';
    place.write('titled.csv', text);
    const batch = await place.create('titled.csv', { options: { ...KEYED.options, headerRow: 2 } });
    const more = `${text}b,two,y\n`;
    const hint = 'if they are right, add: --header-row 2';
    await expect(add(batch, 'titled.csv', more)).rejects.toMatchObject({ code: 'E111', hint });
    await expect(add(batch, 'titled.csv', `,,\n${more}`, undefined, true)).rejects.toMatchObject({
      code: 'E111',
    });
    expect(await add(batch, 'titled.csv', more, undefined, true)).toMatchObject({ appended: 1 });
  });

  it('appends new keys, sends failed rows with their new inputs, and leaves the others out', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch, { outcome: 'failed' });
    const more = 'note,id,prompt\nx,a,one\ny,b,better\nW,d,four\nV,e,five\n';
    const added = await add(batch, 'more.csv', more);
    expect(added).toEqual({ pass: 2, appended: 2, changed: 1 });
    expect(await sentBy(batch, added as Appended)).toMatchObject([
      { row: 4, key: 'd', inputs: { prompt: 'four', note: 'W' } },
      { row: 5, key: 'e', inputs: { prompt: 'five', note: 'V' } },
      { row: 2, key: 'b', before: '0001-000001.jsonl', inputs: { prompt: 'better', note: 'y' } },
    ]);
    // The order of the batch's columns, and only the rows of passes that count.
    const cells = [];
    for await (const row of rowsOf(batch.store, batch.file, { from: 4 })) cells.push(row.cells);
    expect(cells).toEqual([
      ['d', 'four', 'W'],
      ['e', 'five', 'V'],
    ]);
    expect(await countRows(batch.store, batch.file, 1)).toBe(3);
    expect(await add(batch, 'more.csv', more)).toBeUndefined();
  });

  it('is added to a batch that Temporal has and no worker has begun, and to none that was never started', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    const further = { batch, name: 'further.csv', text: 'id,prompt,note\nd,four,\n' };
    await expect(withFurther(place, { ...further, isUnderWay: true }, carriedOut)).resolves.toMatchObject({
      appended: 1,
    });
    await expect(withFurther(place, { ...further, isUnderWay: false }, carriedOut)).rejects.toMatchObject({
      code: 'E602',
    });
  });

  it('names the files of new rows as the batch names its own, and refuses a name that the batch has', async () => {
    const settings = { ...ASKED.settings, outputName: '{note}-{row}' };
    const batch = await place.create('sheet.csv', { ...KEYED, settings });
    await addResults(batch);
    const added = await add(batch, 'more.csv', 'id,prompt,note\nd,4,W\n');
    expect(await sentBy(batch, added as Appended)).toMatchObject([{ row: 4, name: 'W-4' }]);
    const otherBatch = await place.create('sheet.csv', {
      ...KEYED,
      again: true,
      settings: { ...settings, outputName: '{note}' },
    });
    await addResults(otherBatch);
    await expect(add(otherBatch, 'x.csv', 'id,prompt,note\nd,4,X\n')).rejects.toMatchObject({
      code: 'E118',
      message: expect.stringContaining('rows 1 and 4') as string,
    });
    expect(await countRows(otherBatch.store, otherBatch.file)).toBe(3);
  });

  it('is compared again if another command adds rows meanwhile', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch);
    const [one, both] = ['id,prompt,note\nd,4,\n', 'id,prompt,note\nd,4,\ne,5,\n'];
    const added = await add(batch, 'both.csv', both, () => add(batch, 'one.csv', one));
    expect(added).toEqual({ pass: 3, appended: 1, changed: 0 });
    expect(await sentBy(batch, added as Appended)).toMatchObject([{ row: 5, key: 'e' }]);
    expect(await add(batch, 'both.csv', both, () => Promise.resolve())).toBeUndefined();
  });

  it('is refused if it changes rows that succeeded or are open', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch, { rows: [2], isOver: false });
    const changed = 'id,prompt,note\na,other,x\nb,other,y\nd,new,\n';
    await expect(add(batch, 'changed.csv', changed)).rejects.toMatchObject({
      code: 'E533',
      message: expect.stringContaining('1 (key a, open), 2 (key b, succeeded)'),
    });
  });

  it('without keys leaves out the rows that the batch has', async () => {
    const batch = await place.create('sheet.csv', { options: { ...ASKED.options, map: { id: 'id' } } });
    await addResults(batch);
    const more = 'id,prompt,note\na,one,x\na,one,x\nd,four,w\n';
    expect(await add(batch, 'more.csv', more)).toEqual({ pass: 2, appended: 2, changed: 0 });
    expect(await add(batch, 'more.csv', more)).toBeUndefined();
  });
});
