// Rows whose text is broken over lines without quotes: no half of a text is sent before its user has agreed.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const SPEECH = { inputTypes: [input('text', 'string', { required: true }), input('speed', 'float')] };

const TSV = 'Nr.\tText\tTempo\n1\tEs war Nacht.\t1\n2\tUnd so zogen sie\n gemeinsam fort.\t1\n3\tEnde.\t2\n';
const IN_LAST = 'Tempo\tText\n1\tEs war Nacht.\n1\tUnd so zogen sie\ngemeinsam fort.\n2\tEnde.\n';
const WHOLE = [
  ['Es war Nacht.', 1],
  ['Und so zogen sie gemeinsam fort.', 1],
  ['Ende.', 2],
];

async function readSpeech(tsv: string, options: Parameters<typeof read>[2] = {}) {
  const { rows, guesses } = await read('a.tsv', tsv, { format: 'tsv', ...options }, SPEECH);
  return {
    rows: rows.map((row) => {
      const { text, speed } = JSON.parse(row.slice(row.indexOf('{'))) as { text?: string; speed?: number };
      return text === undefined ? [] : [text, speed];
    }),
    questions: guesses.filter((guess) => guess.includes('line end')),
  };
}

describe('a row whose text is broken over two lines', () => {
  it('is joined, and asked about, where no other row begins like its second line', async () => {
    expect(await readSpeech(TSV)).toEqual({
      rows: WHOLE,
      questions: [
        '? lines 3-4 ("2 Und so zogen sie", "gemeinsam fort. 1") are read as one row, in which a line end breaks "Text"; to send only the others: --invalid skip; to take missing cells for empty: --short-rows (--unquoted Text)',
      ],
    });
  });

  it.each([
    ['without a blank, in a column behind numbers', TSV.replace('\n gemeinsam', '\nGemeinsam'), 1],
    [
      'in the first column',
      'Text\tTempo\nEs war Nacht.\t1\nUnd so zogen sie\n gemeinsam fort.\t1\nEnde.\t2\n',
      1,
    ],
    ['in the last column', IN_LAST, 1],
    ['over three lines', TSV.replace('so zogen', 'so\nzogen'), 1],
    ['at a hyphen', TSV.replace('sie\n gemeinsam', 'sie ge-\nmeinsam'), 1],
  ])('is whole if it is broken %s', async (_, text, count) => {
    const { rows, questions } = await readSpeech(text);
    expect(JSON.stringify(rows).toLowerCase()).toBe(JSON.stringify(WHOLE).toLowerCase());
    expect(questions).toHaveLength(count);
  });

  it('is one of several, each joined with its own lines', async () => {
    const twice = `${TSV}4\tUnd der Wind\n heulte laut.\t3\n`;
    const { rows, questions } = await readSpeech(twice);
    expect(rows).toEqual([...WHOLE, ['Und der Wind heulte laut.', 3]]);
    expect(questions.join()).toContain('are read as 2 rows');
  });

  it('counts as bad with both of its lines where bad rows are skipped, unless one of them would be sent', async () => {
    const skipped = await readSpeech(TSV, { invalid: 'skip' });
    expect(skipped).toEqual({ rows: [WHOLE[0], [], [], WHOLE[2]], questions: [] });
    const { questions } = await readSpeech(IN_LAST, { invalid: 'skip' });
    expect(questions.join()).toContain('are read as one row');
  });
});

describe('rows that lack their last cells', () => {
  it('stay rows, and may be joined, where other rows begin like them', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,style,note\na bee,ink,x\na fox,oil\nan owl,pen\n');
    expect(rows).toHaveLength(3);
    expect(guesses.filter((guess) => guess.includes('cells'))).toEqual([
      expect.stringMatching(
        /^\? the last cells of rows 3-4 .* are missing and taken for empty; to join their lines to whole rows: --unquoted style/,
      ),
    ]);
  });

  it('are no parts of a row where a number ends them, and where they complete no row', async () => {
    for (const csv of [
      'prompt,seed,note\na bee,1,x\na fox,2\nan owl,3\n',
      'prompt,style,note\na bee,ink,x\na fox,oil\n',
    ])
      expect((await read('a.csv', csv)).guesses.join()).not.toContain('--unquoted');
  });

  it('are never joined where rows may be short', async () => {
    const { rows } = await read('a.csv', 'prompt,seed\na bee,1\na fox\nan owl,5\n', {
      unquoted: 'prompt',
      shortRows: true,
    });
    expect(rows).toHaveLength(3);
  });
});
