// Marks in texts that no model should draw or read aloud: each is asked about, and the answer that is printed leaves it out.

import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/sheet/text/plain-text.ts';
import { input } from '../laying.ts';
import { INPUTS, read } from './reading.ts';

const SPEECH = [input('text', 'string', { required: true }), input('voice', 'string')];

const sentBy = async (
  file: string,
  text: string,
  isSpoken: boolean,
  options: Parameters<typeof read>[2] = {},
) => {
  const inputTypes = isSpoken ? SPEECH : INPUTS;
  const { rows, guesses } = await read(file, text, options, { inputTypes });
  return {
    texts: rows.map((row) => Object.values(JSON.parse(row.slice(row.indexOf('{'))) as object)[0] as string),
    questions: guesses.filter((guess) => guess.startsWith('? ')),
  };
};

const PRINTED = 'to send the text without it: --tags plain';

describe('a mark inside a text', () => {
  it.each([
    ['**A fox** at night', false, 'A fox at night'],
    ['a ~~red~~ blue fox ~~or crow~~', false, 'a blue fox'],
    ['✓ a fox', false, 'a fox'],
    ['♪ la la la ♪', true, 'la la la'],
    ['(sighs) The wheel is still.', true, 'The wheel is still.'],
    ['Yes. (coughs) Alone.', true, 'Yes. Alone.'],
    ['You talk? [music: flute]', true, 'You talk?'],
    ['He left[2], and came back.', true, 'He left, and came back.'],
  ])('is asked about, and left out by the printed answer: %s', async (marked, isSpoken, plain) => {
    const name = isSpoken ? 'text' : 'prompt';
    for (const [file, sheet, options] of [
      ['a.csv', `id,${name}\n1,"${marked}"\n2,Good night.\n`, {}],
      ['a.txt', `${marked}\nGood night.\nGood day.\n`, {}],
      ['a.json', JSON.stringify([{ [name]: marked }, { [name]: 'Good night.' }]), { format: 'json' }],
    ] as const) {
      const marking = await sentBy(file, sheet, isSpoken, options);
      expect(marking.texts[0]).toBe(marked);
      expect(marking.questions.join('\n')).toContain(PRINTED);
      const { texts, questions } = await sentBy(file, sheet, isSpoken, { ...options, tags: 'plain' });
      expect([texts[0], questions]).toEqual([plain, []]);
    }
  });

  it('is a part of the text where it means something else', () => {
    for (const text of [
      'a [red:blue:0.5] fox (old)',
      '<p>**a** &amp; b</p>',
      'two * three ** four',
      'a ~ b ~~',
    ])
      expect(plainText(text, false)).toBe(text);
    expect(plainText('The UN (United Nations) met. (It rained.) So', true)).toContain('(It rained.)');
  });

  it('leaves no empty text: a row of marks alone lacks its input', async () => {
    const sheet = 'prompt,seed\n~~**~~,1\na crow,2\n';
    await expect(sentBy('a.csv', sheet, false, { tags: 'plain', totals: 'send' })).rejects.toMatchObject({
      problems: [{ code: 'E203' }],
    });
  });

  it('goes with the bullet in front of it', async () => {
    const { texts } = await sentBy('a.txt', '- **a fox**\n- an owl\n', false, { tags: 'plain' });
    expect(texts).toEqual(['a fox', 'an owl']);
  });
});

describe('a text that is struck out, and a footnote', () => {
  it.each([
    [
      'a.csv',
      'prompt,seed\na fox at night,1\n~~a crow in a very long and winding text of many words~~,2\nan owl,3\n',
      '--totals skip',
    ],
    ['a.txt', 'a fox at night\n- ~~a crow~~\nan owl\n', '--skip-rows 2'],
    ['a.txt', 'a fox at night\nan owl\n[1] See the list of Mara.\n', '--skip-rows 3'],
  ])('is asked about and left out: %s %j', async (file, sheet, flag) => {
    const { texts, questions } = await sentBy(file, sheet, false);
    expect(texts).toEqual(['a fox at night', 'an owl']);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain(`(${flag})`);
  });
});
