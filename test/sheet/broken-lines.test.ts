// Lines of a CSV whose quotes do not fit: each is a problem of its own, and the rows around them are read.

import { describe, expect, it } from 'vitest';
import { read } from './people/reading.ts';
import { lay, refusedBy, spot } from './laying.ts';

/** 5.6 MB in 28,000 rows. */
const MEGABYTES = `${'x'.repeat(197)},2\n`.repeat(28_000);

describe('a line of a CSV cannot be read with', () => {
  const cases = [
    ['a quote that is not closed', 'a,b\n1,2\n"x\ny","3\n4,5\n', ['4:2'], /opens here is not closed$/],
    ['a quote inside of a field', 'a,b\n1,5" disk\n', ['2:2'], /unexpected quote in a field/],
    ['a word behind a quote', 'a,b\n1,"x"y\n3,4\n', ['2:2'], /after the closing quote of this field$/],
    ['a word behind a quote, lines later', 'a,b\n1,"x\n2,"y"\n', ['2:2'], /\(noticed in line 3\)$/],
  ] as const;

  // The fault may begin in a later line of the record.
  const firstsOf = async (text: string, chunk?: number): Promise<readonly string[]> =>
    (await refusedBy(lay({ text, ...(chunk && { chunk }) }))).problems.map(spot);

  it.each(cases)('%s', async (_, text, spots, message) => {
    const { problems } = await refusedBy(lay({ text }));
    expect(problems.map(spot)).toEqual(spots.map((at) => `E103 ${at}`));
    expect(problems[0]?.message).toMatch(message);
    for (const chunk of [1, 2, 3, 5, 8]) expect(await firstsOf(text, chunk)).toEqual(problems.map(spot));
  });

  it.each([
    ['anywhere', `a,b\n1,"x\n${MEGABYTES}`],
    ['before the next ones, 5 MiB later', `a,b\n1,"x\n${MEGABYTES}3,"y"\n4,"z"\n`],
  ])('a quote that is not closed %s, and costs its own line', async (_, text) => {
    const { problems, total, rows } = await refusedBy(lay({ text }));
    expect(problems[0]?.message).toMatch(/not closed within 4 MiB/);
    expect([problems.map(spot), total]).toEqual([['E103 2:2'], 1]);
    expect(rows).toBe(text.split('\n').length - 2);
  });

  it('quotes that do not fit, and each of them is listed, without a command that leaves it out', async () => {
    const text = 'prompt,seed\n"a, b",1\n"c,2\n"d, e",3\n"f" g,"4\n"h, i",5\n"j\nk, l",6\n';
    const refused = await read('a.csv', text).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      rows: 6,
      total: 2,
      problems: [
        { code: 'E103', place: { line: 3 }, correction: undefined },
        { code: 'E103', place: { line: 5 }, correction: undefined },
      ],
    });
    const { rows } = await read('a.csv', text, {
      skipRows: [
        { from: 3, to: 3 },
        { from: 5, to: 5 },
      ],
    });
    expect(rows.map((row) => (JSON.parse(row) as { prompt: string }).prompt)).toEqual([
      'a, b',
      'd, e',
      'h, i',
      'j\nk, l',
    ]);
  });

  it('a quote in its middle if a later field ends as one in quotes does', async () => {
    await expect(
      read('a.csv', 'prompt,image\n"a, b",https://x/1.png\n"lines, red,"round, soft"\n'),
    ).rejects.toMatchObject({ problems: [{ code: 'E103', place: { line: 3 } }] });
  });
});

describe('quotes of a CSV behind backslashes', () => {
  it('are quotes of the text if every line is whole then', async () => {
    const text = String.raw`"prompt","seed"
"a \"red\" fox, \\ and 5 \\\" high","1"
"an owl","2"
`;
    const { rows, guesses } = await read('a.csv', text);
    expect(rows).toEqual([
      JSON.stringify({ prompt: String.raw`a "red" fox, \ and 5 \" high`, seed: 1 }),
      '{"prompt":"an owl","seed":2}',
    ]);
    expect(guesses).toEqual([String.raw`quotes within cells are written as \" (--quote backslash)`]);
  });

  it('end their field if the others do so', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed\n"the folder C:\\art\\",1\n"a, b",2\n');
    expect(rows[0]).toBe('{"prompt":"the folder C:\\\\art\\\\","seed":1}');
    expect(guesses).toEqual([]);
  });
});

it.each(['a, "b, c" ,1\n', ' "a" ,b,1\n', 'x,y,1\na,  "say ""b""",2\n'])(
  'a quote behind a separator and a blank opens a field: %j',
  async (text) => {
    const { rows, guesses } = await read('a.csv', `negative_prompt,prompt,seed\n${text}`);
    expect(rows.join()).not.toContain(String.raw`" ,`);
    expect(rows.at(-1)).toMatch(/"prompt":"(?:b, c|b|say \\"b\\")","seed":/);
    expect(guesses.filter((guess) => guess.includes('quote'))).toEqual([]);
  },
);
