// Cells such as `ditto`: they are asked about, and get the value above instead of being sent.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const prompts = (rows: readonly string[]): readonly unknown[] =>
  rows.map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as { prompt?: unknown }).prompt);

describe('a cell that says that the value above comes again', () => {
  it.each([
    'ditto',
    'Dito',
    'dto.',
    'ebd.',
    'idem',
    '〃',
    '""""',
    '-〃-',
    'same as above',
    'Same',
    '(same prompt as above)',
    'see above',
    'siehe oben',
    's. o.',
    'comme ci-dessus',
    '同上',
  ])('gets it, which is asked: %s', async (cell) => {
    const { rows, guesses } = await read('a.csv', `prompt,seed\na red fox,1\n${cell},2\nan owl,3\n`);
    expect(prompts(rows)).toEqual(['a red fox', 'a red fox', 'an owl']);
    expect(guesses.find((guess) => guess.includes('1 cell says that the value above comes again'))).toMatch(
      /^\? .*\(--fill-down prompt\)$/,
    );
  });

  it.each(['ditto the dog', 'same dog', 'a sight seen from above', 'The same', '-', 'above the clouds'])(
    'is none, or is asked about alone: %s',
    async (cell) => {
      const { rows } = await read('a.csv', `prompt,seed\na red fox,1\n${cell},2\n`, { null: ['keep'] });
      expect(prompts(rows)).toEqual(['a red fox', cell]);
    },
  );

  it('is asked about as a text if it changes the value', async () => {
    const { guesses } = await read('a.csv', 'prompt,seed\na red fox,1\n"same as above, but at night",2\n');
    expect(guesses).toEqual([
      `? "same as above, but at night" in "prompt" refers to another text or is not finished, and is sent; to leave its row out: --where 'prompt != "same as above, but at night"' (--null keep)`,
    ]);
    const text = 'prompt,seed\n"seen from above, a fox",1\nThe same fox - asleep,2\n';
    expect((await read('a.csv', text)).guesses).toEqual([]);
  });

  it.each([
    'same as above but at night',
    'same but with snow',
    'see 1',
    'vedi scheda 2, ma di notte',
    'wie in Bild 3',
    'see ep. 3',
    'like #1 in blue',
    'ditto + rain',
    'TODO fox and crow??',
    ', , high contrast',
    'a , , high contrast',
  ])('is asked about as a text if it refers to another one, or is not finished: %s', async (cell) => {
    const question =
      /^\? ".*" in "prompt" refers to another text or is not finished, and is sent; to leave .*\(--null keep\)$/;
    const { guesses } = await read('a.csv', `prompt,seed\na red fox,1\n"${cell}",2\n`);
    expect(guesses).toEqual([expect.stringMatching(question)]);
    const list = await read('a.txt', `a red fox in the snow\n${cell}\nan owl at night\n`);
    expect(list.guesses.filter((guess) => guess.startsWith('?'))).toEqual([expect.stringMatching(question)]);
  });

  it.each([
    'the same fox with a hat',
    'like 2 foxes on ice',
    'as 12 o clock strikes',
    'same dog, at night',
    'todo el mundo',
    'a fox,an owl',
    'wie ein Fuchs',
    'as seen from above, a fox',
    'like a fox, #1 of a series',
  ])('is no question in a text of its own: %s', async (cell) => {
    const { guesses } = await read('a.csv', `prompt,seed\na red fox,1\n"${cell}",2\n`);
    expect(guesses).toEqual([]);
  });

  it('is left out with its row, or sent, by the other answers', async () => {
    const text = 'prompt,seed\na red fox,1\nditto,2\n〃,3\n,4\nan owl,5\n';
    const { guesses } = await read('a.csv', text, { where: 'seed != "4"' });
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([
      `? in "prompt", 2 cells say that the value above comes again ("ditto", "〃"), which is taken; to leave their rows out: --where '(seed != "4") and prompt not in ("ditto", "〃")'; to send all cells as they stand: --null keep (--fill-down prompt)`,
    ]);
    const out = await read('a.csv', text, { where: 'seed != "4" and prompt not in ("ditto", "〃")' });
    expect(out).toEqual({
      rows: ['{"prompt":"a red fox","seed":1}', '{"prompt":"an owl","seed":5}'],
      guesses: [],
    });
    const sent = await read('a.csv', text, { where: 'seed != "4"', null: ['keep'] });
    expect(prompts(sent.rows)).toEqual(['a red fox', 'ditto', '〃', 'an owl']);
  });

  it('means the row above in another group too, while an empty cell stays empty', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('style', 'string')];
    const text = 'model,prompt,style\na,fox,oil\na,owl,\nb,cat,dito\nb,dog,\nc,elk,\n';
    const { rows, guesses } = await read('a.csv', text, {}, { inputTypes });
    expect(rows.map((row) => (JSON.parse(row) as { style?: string }).style)).toEqual([
      'oil',
      undefined,
      'oil',
      undefined,
      undefined,
    ]);
    expect(guesses.join()).toContain('which is taken; 3 empty cells stay empty');
  });

  it('fills no empty cell that a condition leaves out', async () => {
    const inputTypes = [input('text', 'string', { required: true }), input('voice', 'string')];
    const text = 'id,text,voice\n1,Hallo.,Petra\n2,Ende.,""""\n,Saal 2,\n3,Neu.,Jonas\n';
    const options = { where: 'voice != ""', fillDown: ['voice'] };
    const { rows } = await read('a.csv', text, options, { inputTypes });
    expect(rows.map((row) => JSON.parse(row.slice(row.indexOf('{'))) as unknown)).toEqual([
      { text: 'Hallo.', voice: 'Petra' },
      { text: 'Ende.', voice: 'Petra' },
      { text: 'Neu.', voice: 'Jonas' },
    ]);
  });

  it('is never sent where nothing stands above', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('style', 'string')];
    const { rows } = await read('a.csv', 'prompt,style\nfox,ditto\nowl,oil\ncat,ditto\n', {}, { inputTypes });
    expect(rows).toEqual([
      '{"prompt":"fox"}',
      '{"prompt":"owl","style":"oil"}',
      '{"prompt":"cat","style":"oil"}',
    ]);
  });
});
