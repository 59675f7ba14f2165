// Sent cells that are unlike the others of their column: they are shown, and their owner chooses.

import { describe, expect, it } from 'vitest';
import { mapped, printedAnswers, toConfirm } from '../../../src/sheet/guesses/guess.ts';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const DRAWN = { inputTypes: [input('prompt', 'string', { required: true }), input('image', 'string')] };
const SAID = {
  inputTypes: [input('text', 'string', { required: true }), input('target_lang', 'string')],
};

const questionsIn = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));
const PROMPTS = ['a red fox in deep snow', 'a crow on a fence at dawn', 'an owl above the old mill'];
const table = (...more: readonly string[]) =>
  `prompt\n${[...PROMPTS, ...more].map((text) => `"${text.replaceAll('"', '""')}"\n`).join('')}`;

describe('a text that is unlike the others', () => {
  it.each(['OMITIDO', 'folgt', 'VORSPEISEN UND SUPPEN', '=== end ===', 'foto: www.example.org/a', '???'])(
    'is asked about, and left out by the other answer: %s',
    async (text) => {
      const { rows, guesses } = await read('a.csv', table(text), {}, DRAWN);
      expect(rows).toHaveLength(4);
      const where = `prompt != "${text}"`;
      expect(questionsIn(guesses)).toEqual([
        `? "${text}" in "prompt" is unlike the others, and is sent; to leave its row out: --where '${where}' (--null keep)`,
      ]);
      const without = await read('a.csv', table(text), { where }, DRAWN);
      expect([without.rows.length, questionsIn(without.guesses)]).toEqual([3, []]);
      const sent = await read('a.csv', table(text), { null: ['keep'] }, DRAWN);
      expect([sent.rows, questionsIn(sent.guesses)]).toEqual([rows, []]);
    },
  );

  it('is also asked about in a list of lines', async () => {
    const { guesses } = await read('a.txt', `${[...PROMPTS, 'OMITIDO'].join('\n')}\n`, {}, DRAWN);
    expect(questionsIn(guesses)).toEqual([
      `? "OMITIDO" in "prompt" is unlike the others, and is sent; to leave its row out: --where 'prompt != "OMITIDO"' (--null keep)`,
    ]);
  });

  it.each([
    'a cat',
    'Oh!',
    '"Rain," she said.',
    'ein Fuchs – müde',
    '你好',
    'a fox, 4k, 16:9',
    '🔥 a dragon',
  ])('is none if people write such texts: %s', async (text) => {
    expect(questionsIn((await read('a.csv', table(text), {}, DRAWN)).guesses)).toEqual([]);
  });

  it('is none where many are so', async () => {
    const short = ['owl', 'fox', 'crow'];
    expect(questionsIn((await read('a.csv', table(...short), {}, DRAWN)).guesses)).toEqual([]);
  });

  it('is none where prompts are single words', async () => {
    const sheet = 'prompt\ncat\ndog\n"red fox, snow"\nHARE\n';
    expect(questionsIn((await read('a.csv', sheet, {}, DRAWN)).guesses)).toEqual([]);
  });

  it('is sent and mentioned where nobody can be asked', async () => {
    const answers = { guesses: 'accept', oddRows: 'refuse' } as const;
    const { rows, guesses } = await read('a.csv', table('OMITIDO'), {}, { ...DRAWN, answers });
    expect([rows.length, guesses]).toEqual([4, ['"OMITIDO" in "prompt" is unlike the others, and is sent']]);
  });

  it('is listed with all others up to five', async () => {
    const texts = Array.from({ length: 6 }, (_, at) => `NO${'O'.repeat(at)}`);
    const longer = Array.from({ length: 9 }, (_, at) => `a fox beside ${at + 2} old trees`);
    const questionsFor = (most: number) =>
      read('a.csv', table(...longer, ...texts.slice(0, most)), {}, DRAWN).then(({ guesses }) =>
        questionsIn(guesses),
      );
    const five = '"NO", "NOO", "NOOO", "NOOOO", "NOOOOO"';
    expect(await questionsFor(5)).toEqual([
      `? ${five} in "prompt" are unlike the others, and are sent; to leave their rows out: --where 'prompt not in (${five})' (--null keep)`,
    ]);
    expect(await questionsFor(6)).toEqual([
      `? ${five}, … in "prompt" are unlike the others, and are sent (--null keep)`,
    ]);
  });
});

describe('a cell among names', () => {
  it('is asked about if it lists several, and run once for each by an answer', async () => {
    const sheet = 'text,target_lang\nHello.,DE\nBye.,FR\nSee you.,IT\nThanks.,"DE, CZ, SK"\n';
    const { guesses } = await read('a.csv', sheet, {}, SAID);
    expect(questionsIn(guesses)).toEqual([
      `? "DE, CZ, SK" in "target_lang" is unlike the others, and is sent; to run each of the parts: --split target_lang; to leave its row out: --where 'target_lang != "DE, CZ, SK"' (--null keep)`,
    ]);
    const each = await read('a.csv', sheet, { split: ['target_lang'] }, SAID);
    expect([each.rows.length, questionsIn(each.guesses)]).toEqual([6, []]);
  });

  it('is asked about if the others are codes', async () => {
    const sheet = 'text,target_lang\nHello.,DE\nBye.,FR\nSee you.,pt-BR\nThanks.,j.w.\n';
    const { guesses } = await read('a.csv', sheet, {}, SAID);
    expect(questionsIn(guesses).join()).toMatch(/^\? "j\.w\." in "target_lang" is unlike the others/);
  });
});

it('a remark among addresses is asked about', async () => {
  const sheet =
    'prompt,image\na fox,https://a.example/1.png\na crow,https://a.example/2.png\nan owl,(same as 1)\nan elk,\n';
  const { guesses } = await read('a.csv', sheet, {}, DRAWN);
  expect(questionsIn(guesses).join()).toMatch(/"\(same as 1\)" in "image" is unlike the others, and is sent/);
});

it('a printed command answers each question once, and leaves open which rows run', () => {
  const map = toConfirm('columns', 'column "T" is the input text', mapped('text', 'T'));
  const open = {
    ...toConfirm('rows', '"b" is unlike the others', { null: ['keep'] }),
    isChoice: true,
  } as const;
  expect(printedAnswers([map, { ...map, text: 'cells of "T" have braces' }, open])).toEqual([
    ['--map', 'text=T'],
  ]);
});
