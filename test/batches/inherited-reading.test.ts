// How a further sheet is read: every option of reading, and every one that makes several rows of one, stays with the batch, or is found
// again in each file.

import { beforeEach, describe, expect, it } from 'vitest';
import type { READING } from '../../src/options/reading-table.ts';
import { OPTIONS } from '../../src/options/table.ts';
import { readPage } from '../../src/sheet/pages.ts';
import type { SheetOptions } from '../../src/sheet/sheet-source.ts';
import { input } from '../sheet/laying.ts';
import { ASKED, Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { sheetOf, withFurther } from './further.ts';

const inputTypes = [
  input('prompt', 'string', { required: true }),
  input('seed', 'int'),
  input('cfg', 'float'),
  input('style', 'string'),
];
const deployment = { ...ASKED.deployment, inputTypes };

let place: Place;
beforeEach(() => {
  place = new Place();
});

type ReadingCase = {
  readonly options: Partial<SheetOptions>;
  readonly first: string;
  readonly further: string;
  /** The inputs of the rows of the further sheet. */
  readonly rows: readonly string[];
  readonly name?: string;
};

type Several = 'grid' | 'repeat' | 'split' | 'set';
/** Its value for a file says nothing of another file. */
const OF_A_FILE = 'of a file';

const KEYED = { keyColumn: 'id' };

const CASES: Readonly<Record<keyof typeof READING | Several, ReadingCase | typeof OF_A_FILE>> = {
  limit: OF_A_FILE,
  format: OF_A_FILE,
  sheetName: OF_A_FILE,
  delimiter: OF_A_FILE,
  encoding: OF_A_FILE,
  headerRow: OF_A_FILE,
  skipRows: OF_A_FILE,
  hidden: OF_A_FILE,
  where: {
    options: { where: 'Status = Draft', ...KEYED },
    first: 'id,prompt,Status\na,one,Draft\nb,two,Final\n',
    further: 'id,prompt,Status\nc,three,Final\nd,four,Draft\n',
    rows: ['{"prompt":"four"}'],
  },
  tags: {
    options: { tags: 'send', keyColumn: 'start', map: { prompt: 'text' } },
    name: 'sheet.srt',
    first: '1\n00:01,000 --> 00:02,000\n<i>one</i>\n',
    further: '2\n00:03,000 --> 00:04,000\n<i>two</i>\n',
    rows: ['{"prompt":"<i>two</i>"}'],
  },
  quote: {
    options: { quote: 'none', ...KEYED },
    first: 'id,prompt\na,"one"\n',
    further: 'id,prompt\nb,"two"\n',
    rows: ['{"prompt":"\\"two\\""}'],
  },
  comment: {
    options: { comment: 'none', ...KEYED },
    first: 'id,prompt\n#a,one\n',
    further: 'id,prompt\n#b,two\n',
    rows: ['{"prompt":"two"}'],
  },
  shortRows: {
    options: { shortRows: true, ...KEYED },
    first: 'id,prompt,style\na,one\n',
    further: 'id,prompt,style\nb,two\n',
    rows: ['{"prompt":"two"}'],
  },
  longRows: {
    options: { longRows: true, ...KEYED },
    first: 'id\tprompt\na\tone\tnote\n',
    further: 'id\tprompt\nb\ttwo\t\tnote\n',
    rows: ['{"prompt":"two"}'],
    name: 'further.tsv',
  },
  unquoted: {
    options: { unquoted: 'prompt', ...KEYED },
    first: 'id,prompt,style\na,one,oil\n',
    further: 'id,prompt,style\nb,two, three,ink\n',
    rows: ['{"prompt":"two, three","style":"ink"}'],
  },
  columns: {
    options: { columns: ['id', 'prompt'], headerRow: 0, ...KEYED },
    first: 'a,one\nb,two\n',
    further: 'c,three\n',
    rows: ['{"prompt":"three"}'],
  },
  records: {
    options: { records: 'data.drafts', keyColumn: 'id' },
    name: 'sheet.json',
    first: '{"data":{"drafts":[{"id":"a","prompt":"one"}],"finals":[{"id":"x","prompt":"no"}]}}',
    further: '{"data":{"drafts":[{"id":"b","prompt":"two"}],"finals":[{"id":"y","prompt":"no"}]}}',
    rows: ['{"prompt":"two"}'],
  },
  orient: {
    options: { orient: 'index' },
    name: 'sheet.json',
    first: '{"a":{"prompt":"one"},"b":{"prompt":"two"}}',
    further: '{"c":{"prompt":"three"}}',
    rows: ['{"prompt":"three"}'],
  },
  unwrap: {
    options: { unwrap: 'body', keyColumn: 'id' },
    name: 'sheet.jsonl',
    first: '{"id":"a","body":{"prompt":"one"}}\n',
    further: '{"id":"b","body":{"prompt":"two"}}\n',
    rows: ['{"prompt":"two"}'],
  },
  null: {
    options: { null: ['x'], ...KEYED },
    first: 'id,prompt,style\na,one,x\n',
    further: 'id,prompt,style\nb,two,x\n',
    rows: ['{"prompt":"two"}'],
  },
  fillDown: {
    options: { fillDown: ['style'], ...KEYED },
    first: 'id,prompt,style\na,one,oil\nb,two,\n',
    further: 'id,prompt,style\nc,three,ink\nd,four,\n',
    rows: ['{"prompt":"three","style":"ink"}', '{"prompt":"four","style":"ink"}'],
  },
  unique: {
    options: { unique: true, ...KEYED },
    first: 'id,prompt\na,one\nb,one\n',
    further: 'id,prompt\nc,two\nd,two\n',
    rows: ['{"prompt":"two"}'],
  },
  invalid: {
    options: { invalid: 'skip', ...KEYED, types: { seed: 'int' } },
    first: 'id,prompt,seed\na,one,1\n',
    further: 'id,prompt,seed\nb,two,2\nc,three,many\n',
    // The other one is refused.
    rows: ['{"prompt":"two","seed":2}', '{}'],
  },
  totals: {
    options: { totals: 'skip', ...KEYED },
    first: 'id,prompt\na,one\nTotal,\n',
    further: 'id,prompt\nb,two\nc,three\nGrand total,\nas of Monday,\n',
    rows: ['{"prompt":"two"}', '{"prompt":"three"}'],
  },
  decimalComma: {
    options: { decimalComma: false, ...KEYED },
    first: 'id;prompt;seed\na;one;1,200\n',
    further: 'id;prompt;seed\nb;two;1,300\n',
    rows: ['{"prompt":"two","seed":1300}'],
  },
  grid: {
    options: { grid: { style: ['oil', 'ink'] }, ...KEYED },
    first: 'id,prompt\na,one\n',
    further: 'id,prompt\nb,two\n',
    rows: ['{"prompt":"two","style":"oil"}', '{"prompt":"two","style":"ink"}'],
  },
  repeat: {
    options: { repeat: { by: 2 }, ...KEYED },
    first: 'id,prompt,seed\na,one,5\n',
    further: 'id,prompt,seed\nb,two,7\n',
    rows: ['{"prompt":"two","seed":7}', '{"prompt":"two","seed":8}'],
  },
  split: {
    options: { split: ['seed'], ...KEYED },
    first: 'id;prompt;seed\na;one;1,2\n',
    further: 'id;prompt;seed\nb;two;3,4\n',
    rows: ['{"prompt":"two","seed":3}', '{"prompt":"two","seed":4}'],
  },
  set: {
    options: { set: { prompt: 'a {product}' }, ...KEYED },
    first: 'id,product\na,fox\n',
    further: 'id,product\nb,owl\n',
    rows: ['{"prompt":"a owl"}'],
  },
};

const made = (test: ReadingCase) => {
  const { name = 'sheet.csv', first, options } = test;
  place.write(name, first);
  return place.create(name, {
    options: { ...ASKED.options, gpu: undefined, ...options } as typeof ASKED.options,
    deployment,
    answers: { ...ASKED.answers, guesses: 'accept' },
  });
};

const HEAD =
  ',row,key,outcome,reason,run_id,gpu_asked,gpu_used,attempts,queue_seconds,cold_start_seconds,run_seconds,cost_usd,outputs';

describe('a further sheet', () => {
  const kept = Object.entries(CASES).flatMap(([option, test]) =>
    test === OF_A_FILE ? [] : [[option, test] as const],
  );

  it.each(kept)('is read with the %s of the batch, also when it is a save', async (_, test) => {
    const batch = await made(test);
    for (const isSavedAgain of [false, true]) {
      const name = `${isSavedAgain ? '' : 'more-'}${test.name ?? 'sheet.csv'}`;
      const furtherSheet = { batch, name, text: test.further, declared: { inputTypes }, isSavedAgain };
      const rows = await withFurther(place, furtherSheet, async (one) => {
        const { layout } = await sheetOf(one);
        return (await readPage(layout, 1)).map(({ inputs }) => JSON.stringify(inputs));
      });
      expect(rows).toEqual(test.rows);
    }
  });

  it('has the options that the table says', () => {
    const stays = Object.entries<object>(OPTIONS).flatMap(([option, row]) =>
      'stays' in row ? [option] : [],
    );
    const always = ['set'];
    expect([...stays, ...always].toSorted()).toEqual(kept.map(([option]) => option).toSorted());
  });

  it('of results has each of its rows already', async () => {
    const batch = await made(CASES.where as ReadingCase);
    await addResults(batch, { outcome: 'failed' });
    const text = `id,prompt,Status${HEAD}\na,better,Sent,1,a,failed,,,,,,,,,,\n`;
    const again = await withFurther(
      place,
      { batch, name: 'failures.csv', text, declared: { inputTypes } },
      async (one) => (one.further as NonNullable<typeof one.further>).compared.changed,
    );
    expect(again).toBe(1);
  });
});
