// The sheet of a batch, saved again: compared with how its rows were asked last.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { placeIn } from '../../src/batch/state/lanes.ts';
import type { Appended } from '../../src/batches/append/append-rows.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { requestHash } from '../../src/batches/request-hash.ts';
import { DELETED, readWishes } from '../../src/batches/watched/left-out.ts';
import { writeWatched } from '../../src/batches/watched/watched-file.ts';
import { rowsOf } from '../../src/results/batch-rows.ts';
import { ASKED, Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { carriedOut, sendAgain, withFurther } from './further.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('sheet.csv', 'id,prompt,note\na,one,x\nb,two,y\nc,three,z\n');
});

const KEYED = { options: { ...ASKED.options, keyColumn: 'id' } };

/** The changes of a save; `sends` also sends them. */
function save(batch: CreatedBatch, text: string, sends = false) {
  return withFurther(place, { batch, name: 'sheet.csv', text, isSavedAgain: true }, async (one) => {
    const { sheet, compared } = one.further as NonNullable<typeof one.further>;
    const { same, appended, changed, again, absent, wishes, places } = compared;
    const rows = { again: [...again.keys()], absent: [...absent], wishes: new Map(wishes) };
    const pass = sends ? ((await carriedOut(one)) as Appended | undefined)?.pass : undefined;
    return { same, appended, changed, ...rows, places, others: sheet.otherColumns, pass };
  });
}

const SAME = 'id,prompt,note\na,one,x\nb,two,y\nc,three,z\n';
const wishFor = (prompt: string, note: string): string => requestHash({ note, prompt }, ASKED.options.gpu);

describe('a sheet that was saved again', () => {
  it('sends changed rows again although they succeeded, and nothing for reordered and deleted ones', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch);
    const changes = await save(batch, 'id,prompt,note\nc,three,z\na,better,x\n');
    expect(changes).toMatchObject({ same: 1, appended: 0, changed: 1, again: [1], absent: [2] });
    expect(changes.wishes).toEqual(new Map());
  });

  it('sends a row again that is changed back, because its newest result is of other inputs', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch);
    const better = 'id,prompt,note\na,better,x\nb,two,y\nc,three,z\n';
    expect(await save(batch, better, true)).toMatchObject({ again: [1], pass: 2 });
    expect(await save(batch, better)).toMatchObject({ same: 3, changed: 0, wishes: new Map() });
    const back = await save(batch, SAME);
    expect(back).toMatchObject({ same: 2, again: [], wishes: new Map([[1, wishFor('one', 'x')]]) });
    // The place of the better row is the sheet's, so it may be left out.
    expect(back.places).toEqual([
      { lane: 0, first: 1, count: 3 },
      { lane: 0, first: 5001, count: 1 },
    ]);
  });

  it('does not take a retry with other inputs or another GPU for a change of the sheet', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch, { more: { gpu_asked: 'H200', change: { set: { prompt: 'other' } } } });
    expect(await save(batch, SAME)).toMatchObject({ same: 3, changed: 0, again: [] });
    const changed = await save(batch, 'id,prompt,note\na,better,x\nb,two,y\nc,three,z\n');
    expect(changed).toMatchObject({ same: 2, changed: 1, again: [1] });
  });

  it('keeps no place of a retry, and none that was added after the save, from being sent', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch);
    const answers = { boughtBefore: 'again' } as const;
    const retry = { isWanted: ({ row }: { row: number }) => row === 2, gpu: 'H200', by: 'me', answers };
    expect(await sendAgain(batch, retry)).toMatchObject({ pass: 2, rows: 1 });
    expect(await save(batch, SAME)).toMatchObject({ same: 3, wishes: new Map() });
    const changes = await save(batch, 'id,prompt,note\na,one,x\nb,other,y\n');
    expect(changes.wishes).toEqual(new Map([[2, wishFor('other', 'y')]]));
    const { places } = changes;
    await writeWatched(batch.store, {
      sheet: '/sheet.csv',
      deployment: 'd',
      rows: { 2: 'other', 3: DELETED },
      places,
    });
    const { againstSending } = await readWishes(batch.store);
    const against = (at: number, row: number): string | undefined =>
      againstSending(at, { row, key: 'k', inputs: {} }, undefined);
    expect(against(2, 2)).toContain('other inputs');
    expect(against(3, 3)).toContain('without this row');
    expect(against(placeIn(1, 1), 2)).toBe(undefined);
    expect(against(placeIn(0, 5001), 3)).toBe(undefined);
  });

  it('lets changed rows without an outcome wait, and notes what workers must not send', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    await addResults(batch, { rows: [2], isOver: false });
    const changes = await save(batch, 'id,prompt,note\na,other,x\nb,two,y\nd,four,w\n');
    expect(changes).toMatchObject({ same: 1, appended: 1, changed: 0, absent: [3] });
    expect(changes.wishes).toEqual(
      new Map([
        [1, wishFor('other', 'x')],
        [3, DELETED],
      ]),
    );
    const file = {
      sheet: '/sheet.csv',
      deployment: 'd',
      rows: Object.fromEntries(changes.wishes),
      places: changes.places,
    };
    await writeWatched(batch.store, file);
    const wishes = await readWishes(batch.store);
    const against: (string | undefined)[] = [];
    for await (const { row } of rowsOf(batch.store, batch.file))
      against.push(wishes.againstSending(row.row, row, batch.file.deployment.gpu));
    expect(against).toEqual([
      expect.stringContaining('other inputs'),
      undefined,
      expect.stringContaining('without this row'),
    ]);
    expect(
      wishes.againstSending(1, { row: 1, key: 'a', inputs: { note: 'x', prompt: 'other' } }, undefined),
    ).toBe(undefined);
  });

  it('sends a row that was left out when the sheet has it again, and none that a user cancelled', async () => {
    const batch = await place.create('sheet.csv', KEYED);
    const reason = 'left out: the sheet was saved without this row before it was sent';
    await addResults(batch, { outcome: 'cancelled', more: { reason } });
    expect(await save(batch, SAME, true)).toMatchObject({ changed: 3, pass: 2 });
    expect(await save(batch, SAME, true)).toMatchObject({ changed: 0, same: 3, pass: undefined });
    const otherBatch = await place.create('sheet.csv', { ...KEYED, again: true });
    await addResults(otherBatch, { outcome: 'cancelled', more: { reason: 'cancelled before it was sent' } });
    expect(await save(otherBatch, SAME)).toMatchObject({ changed: 0, same: 3 });
  });

  it('may have more columns and lack ignored ones, but no column that the batch uses', async () => {
    const batch = await place.create('sheet.csv', {
      options: { ...ASKED.options, keyColumn: 'id', drop: ['note'] },
    });
    await addResults(batch);
    const more = await save(batch, 'id,prompt,mine\na,one,1\nb,two,2\nc,three,3\n');
    expect(more).toMatchObject({ same: 3, changed: 0, others: ['mine'] });
    await expect(save(batch, 'id,promt\na,one\n')).rejects.toMatchObject({
      code: 'E532',
      message: expect.stringContaining('prompt'),
      hint: expect.stringContaining('did you mean prompt?'),
    });
  });

  it('keeps a column as the input that it was, also if it could name the rows now', async () => {
    place.write('sheet.csv', 'id,prompt\nx,one\nx,two\n');
    const batch = await place.create('sheet.csv');
    await addResults(batch);
    expect(await save(batch, 'id,prompt\nx,one\ny,two\n')).toMatchObject({ same: 1, appended: 1 });
  });

  it('without keys takes a changed row for a new one and a deleted one', async () => {
    const batch = await place.create('sheet.csv', { options: { ...ASKED.options, map: { id: 'id' } } });
    await addResults(batch);
    const changes = await save(batch, 'id,prompt,note\na,one,x\nb,better,y\nc,three,z\n');
    expect(changes).toMatchObject({ same: 2, appended: 1, changed: 0, absent: [2] });
  });

  it('costs the groups of a batch that follows no sheet one look, not one each', async () => {
    const { store } = await place.create('sheet.csv', KEYED);
    const read = vi.spyOn(store, 'read');
    for (let group = 1; group <= 3; group += 1) await readWishes(store);
    expect(read).toHaveBeenCalledTimes(1);
  });
});
