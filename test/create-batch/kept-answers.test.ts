// Answers to guesses that `plan --save` keeps, for the sheets that come later.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { withCopy } from '../../src/create-batch/copy-sheet.ts';
import type { CreateParams } from '../../src/create-batch/create-batch.ts';
import { keepPlan } from '../../src/create-batch/answers/plan-answers.ts';
import { deploymentSchema } from '../../src/run-service/contract/deployment.ts';
import { guessText } from '../../src/sheet/guesses/guess.ts';
import type { SheetOptions } from '../../src/sheet/sheet-options.ts';
import { input } from '../sheet/laying.ts';
import { textRow, workbook } from '../sheet/xlsx/workbooks.ts';
import { draftOf } from './create.ts';
import { ASKED, Place } from './creating.ts';
import { sheetOf, withFurther } from './further.ts';

const ACCEPTED = { ...ASKED.answers, guesses: 'accept' } as const;

const DEPLOYMENT = {
  ...deploymentSchema.parse({ id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' }),
  inputTypes: [input('prompt', 'string', { required: true }), input('cfg', 'float')],
};
const FIRST = 'prompt;cfg;price\na;7,5;1\nb;8;2\nTotal;;3\n';
/** Other rows, and the total stands elsewhere. */
const LATER = 'prompt;cfg;price\nc;9,5;4\nTotal;;4\n';

let place: Place;
beforeEach(() => {
  place = new Place();
});

type Given = Partial<Pick<CreateParams, 'deployment' | 'answers'>> & {
  readonly options?: Partial<SheetOptions>;
};

function withSheet<T>(path: string, given: Given, use: (params: CreateParams) => Promise<T>): Promise<T> {
  const { options = {}, ...more } = given;
  const { format: _, ...asked } = { format: 'csv', ...ASKED.options, ...options };
  return withCopy(path, { out: place.out, stdin: Readable.from([]) }, (copy) =>
    use({ ...ASKED, deployment: DEPLOYMENT, ...more, options: asked, copy, out: place.out }),
  );
}

const save = (text: string | { readonly path: string }, given: Given = {}) => {
  const path = typeof text === 'string' ? place.write('may.csv', text) : text.path;
  return withSheet(path, given, async (params) => {
    return keepPlan(params, await draftOf({ ...params, answers: ACCEPTED }));
  });
};

/** What a script reads; it asks no user. */
const read = (path: string, given: Given = {}) =>
  withSheet(path, given, async (params) => {
    const { file, laidOut } = await draftOf(params);
    const guesses = (laidOut.guesses ?? []).map((guess) => `${guess.sure} ${guessText(guess)}`);
    return { rows: file.sheet.rows, guesses };
  });
const readText = (text: string, given: Given = {}, name = 'june.csv') => read(place.write(name, text), given);

describe('answers that plan --save keeps', () => {
  it('hold for other rows with the same columns in a file of another name', async () => {
    await expect(readText(LATER)).rejects.toMatchObject({ code: 'E111' });
    expect(await save(FIRST)).toEqual(['prompt', 'cfg', 'price']);
    expect(await readText(LATER)).toEqual({
      rows: 1,
      guesses: [
        "said separator ; (--delimiter ';')",
        'said row 3 ("Total 4") is a total, not a row of the batch; to send all rows: --skip-rows none; kept by plan --save (--skip-rows 3)',
        'said numbers have a decimal comma in "cfg"; kept by plan --save (--decimal-comma)',
        'said column kept as data, sent to no input: price (--drop price)',
      ],
    });
  });

  it('answer no other question', async () => {
    await save(FIRST);
    await expect(readText(`${LATER}as of Monday;;\n`)).rejects.toMatchObject({
      code: 'E111',
      message: expect.stringContaining('as of Monday'),
      hint: 'if they are right, add: --skip-rows 3-4',
    });
  });

  it('hold for their deployment and service only', async () => {
    await save(FIRST);
    const deployment = { ...DEPLOYMENT, id: '1d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' };
    await expect(readText(LATER, { deployment })).rejects.toMatchObject({ code: 'E111' });
  });

  it('do not count for a sheet of the same name with other columns, and the message says so', async () => {
    await save(FIRST);
    const changed = LATER.replace('price', 'cost');
    const note =
      'the answers that plan --save kept do not count, because the columns have changed: "price" is gone, "cost" is new';
    await expect(readText(changed, {}, 'may.csv')).rejects.toMatchObject({
      code: 'E111',
      message: expect.stringContaining(note),
    });
    await expect(readText(changed)).rejects.not.toMatchObject({ message: expect.stringContaining('kept') });
    const options = { decimalComma: true, skipRows: [{ from: 3, to: 3 }] };
    expect((await readText(changed, { options }, 'may.csv')).guesses.at(-1)).toBe(`said ${note}`);
  });

  it('are what the command gave instead of guesses, also after another plan --save', async () => {
    const options = { decimalComma: true, skipRows: [] };
    await save(FIRST, { options });
    await save(FIRST);
    const { rows, guesses } = await readText(LATER);
    expect(rows).toBe(2);
    expect(guesses[0]).toBe('said kept by plan --save (--decimal-comma --skip-rows none)');
    expect((await readText(LATER, { options: { skipRows: [{ from: 3, to: 3 }] } })).rows).toBe(1);
  });

  it('are totals whose rows the command gave by their numbers', async () => {
    await save(FIRST, { options: { skipRows: [{ from: 4, to: 4 }] } });
    expect((await readText(LATER)).rows).toBe(1);
  });

  it('are a mapping, unless the command gives one', async () => {
    const text = 'words,note\na,x\n';
    await save(text, { options: { map: { prompt: 'words' } } });
    expect((await readText(text)).rows).toBe(1);
    await expect(readText(text, { options: { map: { cfg: 'note' } } })).rejects.toMatchObject({
      code: 'E200',
    });
  });

  it('name the sheet of a workbook', async () => {
    const book = (prompt: string) =>
      workbook({
        rows: textRow('prompt') + textRow(prompt),
        workbook:
          '<workbook xmlns:r="r"><sheets><sheet name="My orders" r:id="s1"/><sheet name="B" r:id="s2"/></sheets></workbook>',
        more: { 'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${textRow('b')}</sheetData></worksheet>` },
      });
    await save({ path: await book('a') });
    expect((await read(await book('c'))).rows).toBe(1);
  });

  it('hold for sheets that are added to a batch', async () => {
    place.write('first.csv', FIRST.replace('Total;;3\n', ''));
    const batch = await place.create('first.csv', {
      deployment: DEPLOYMENT,
      answers: ACCEPTED,
    });
    const add = () =>
      withFurther(place, { batch, name: 'more.csv', text: LATER, declared: DEPLOYMENT }, async (rows) => {
        const { laidOut } = await sheetOf(rows);
        return laidOut.rows;
      });
    await expect(add()).rejects.toMatchObject({ code: 'E111' });
    await save(FIRST);
    expect(await add()).toBe(1);
  });

  it('are none if their file cannot be read', async () => {
    await save(FIRST);
    const folder = join(place.out, '.answers');
    for (const file of readdirSync(folder)) writeFileSync(join(folder, file), '{"answers":[{');
    await expect(readText(LATER)).rejects.toMatchObject({ code: 'E111' });
    await save(FIRST);
    expect((await readText(LATER)).rows).toBe(1);
  });

  it('are none for JSON, about which nothing is guessed', async () => {
    const path = place.write('a.jsonl', '{"prompt":"a"}\n');
    expect(await save({ path })).toBe(undefined);
  });
});
