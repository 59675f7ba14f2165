// Rows that are sent again although another batch has got them since their batch was made.

import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { placeIn } from '../../src/batch/state/lanes.ts';
import { RowsAgain, type PassParams } from '../../src/batches/append/add-pass.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import type { Question } from '../../src/batches/questions.ts';
import { passParams } from '../../src/library/handle/retried-rows.ts';
import { partName } from '../../src/results/parts.ts';
import { readPass } from '../../src/store/passes.ts';
import { create, ASKED } from './create.ts';
import { Place } from './creating.ts';
import { addResults } from './earlier.ts';

let place: Place;
let batch: CreatedBatch;
const places = () => join(place.folder, 'places');
const REAL = { ...ASKED.service, base: 'https://gpu.example', rehearsal: false };
const AGAIN = { earlier: 'again', open: 'again', undelivered: 'again', elsewhere: 'again' } as const;

/** A batch of rows of the same inputs, in a folder of its own. */
const made = (name: string, folder: string) =>
  create(place.write(name, 'prompt\none\ntwo\n'), join(place.folder, folder), {
    service: REAL,
    places: places(),
    answers: AGAIN,
    name: name.replace('.csv', ''),
  });

const again = ({ store, file }: CreatedBatch, change?: object, more: Partial<PassParams> = {}) =>
  RowsAgain.of({ store, file }, { ...passParams({}, {}, change as never), ...more }, { places: places() });

const asked = ({ questions }: { readonly questions: readonly Question[] }) =>
  questions.map((question) =>
    question.id === 'boughtBefore' ? [question.paid, question.batches] : question.id,
  );

/** Sends every row of the batch again, with consent to buy twice. */
async function sentAgain(created: CreatedBatch): Promise<readonly number[]> {
  const rows = await again(created);
  await rows.with({ answers: { boughtBefore: 'again' } });
  const { segments } = await readPass(created.store, (await rows.carryOut())?.pass ?? 0);
  return segments.flatMap(({ lane, first, count }) =>
    Array.from({ length: count }, (_, at) => placeIn(lane, first + at)),
  );
}

beforeEach(async () => {
  place = new Place();
  batch = await made('first.csv', 'here');
  await addResults(batch, { outcome: 'failed' });
});

describe('rows that another batch has got since', () => {
  it.each(['here', 'there'])('are not sent again without a question (%s)', async (folder) => {
    const otherBatch = await made('other.csv', folder);
    const name = folder === 'here' ? 'other' : otherBatch.folder;
    expect(asked(await again(batch))).toEqual([[2, [name]]]);
    await addResults(otherBatch, { rows: [2] });
    expect(asked(await again(batch))).toEqual([[1, [name]]]);
    expect(asked(await again(batch, { set: { prompt: 'three' } }))).toEqual([]);
    expect(await sentAgain(batch)).toHaveLength(2);
  });

  it('ask too if only a cluster knows that batch, whose folder is on another machine', async () => {
    const known = [
      { mark: 'other', folder: '/away/other', startedAt: new Date() },
      { mark: 'before', folder: '/away/before', startedAt: new Date(0) },
      { mark: batch.file.mark, folder: batch.folder, startedAt: new Date() },
    ];
    const servers = async () => known;
    const rows = await again(batch, undefined, { servers });
    await expect(rows.carryOut()).rejects.toThrow('open: boughtBefore');
    expect(asked(rows)).toEqual([[2, ['/away/other']]]);
    await rows.with({ answers: { boughtBefore: 'again' } });
    expect((await rows.carryOut())?.rows).toBe(2);
  });

  it('also ask if they come between the question and the pass', async () => {
    const rows = await again(batch);
    expect(rows.questions).toEqual([]);
    await made('other.csv', 'there');
    await expect(rows.carryOut()).rejects.toThrow('open: boughtBefore');
  });

  it('do not ask again in the batch that was made although an earlier one had them, until it sends them again', async () => {
    const later = await made('later.csv', 'here');
    await addResults(later, { outcome: 'failed' });
    await addResults(batch, { rows: [2] });
    expect(asked(await again(later))).toEqual([]);
    await addResults(batch, { outcome: 'failed' });
    const [firstRow = 0] = await sentAgain(batch);
    expect(asked(await again(later))).toEqual([[2, ['first']]]);
    const record = { row: 1, place: firstRow, outcome: 'succeeded', attempts: [], files: [] };
    await batch.store.write(partName(2, 1), `${JSON.stringify(record)}\n`);
    expect(asked(await again(later))).toEqual([[2, ['first']]]);
  });
});
