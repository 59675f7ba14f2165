// Prose and prompts whose lines a program has broken, each of which would be a text of its own.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const TTS = [input('text', 'string', { required: true }), input('voice', 'string')];
const spoken = (text: string, options = {}) => read('a.txt', text, options, { inputTypes: TTS });
const textsIn = ({ rows }: Awaited<ReturnType<typeof read>>, name = 'text') =>
  rows.map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as Record<string, string>)[name]);
const questions = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));

describe('a paragraph whose lines are broken', () => {
  const GERMAN =
    'Der Wind brachte den Ge-\nruch von Salz mit. Niemand\nantwortete.\n\nNur die Lampe summte, drau-\nßen das Meer.\n\n– 12 –\n\nEnde.\n';
  const TEXTS = [
    'Der Wind brachte den Geruch von Salz mit. Niemand antwortete.',
    'Nur die Lampe summte, draußen das Meer.',
    'Ende.',
  ];

  it('is one text, which is asked with the words that a hyphen divides', async () => {
    const prose = await spoken(GERMAN);
    expect(textsIn(prose)).toEqual(TEXTS);
    expect(questions(prose.guesses)).toEqual([
      '? lines 2-3,6 ("ruch von Salz mit. Niemand", "antwortete.", "ßen das Meer.") continue the text above and are joined to it, without the hyphen of "Geruch", "draußen"; to send each line as it stands: --tags send (--tags paragraphs)',
      '? line 8 ("– 12 –") is not a text, and is left out; to send all lines: --skip-rows none (--skip-rows 8)',
    ]);
    const list = { delimiter: 'none', headerRow: 0, columns: ['text'] } as const;
    const skipRows = [{ from: 8, to: 8 }];
    const pasted = await spoken(GERMAN, { ...list, tags: 'paragraphs', skipRows });
    expect(textsIn(pasted)).toEqual(TEXTS);
    expect(questions(pasted.guesses)).toEqual([]);
    const sent = await spoken(GERMAN, { tags: 'send', skipRows: [] });
    expect(textsIn(sent)).toEqual(GERMAN.split('\n').filter((line) => line !== ''));
    expect(questions(sent.guesses)).toEqual([]);
  });

  it('may go on in small letters, and between page numbers', async () => {
    const english =
      'The wind came from the west and it brought the\nsmell of salt. Nobody answered his question,\nand nobody asked.\n\nPage 12 of 40\n\nThe boat was gone, and with it the old man who\nhad owned it.\n';
    expect(textsIn(await spoken(english))).toEqual([
      'The wind came from the west and it brought the smell of salt. Nobody answered his question, and nobody asked.',
      'The boat was gone, and with it the old man who had owned it.',
    ]);
    const [single = ''] = english.split('\n\n');
    expect(textsIn(await spoken(single))).toEqual([single.replaceAll('\n', ' ')]);
  });

  it('may be a prompt whose lines end with a comma', async () => {
    const deck = await read('a.txt', 'a cliff,\nwhite rose, dog\n\na table,\nroses overhead\n');
    expect(textsIn(deck, 'prompt')).toEqual(['a cliff, white rose, dog', 'a table, roses overhead']);
    expect(questions(deck.guesses)).toHaveLength(1);
  });

  it('goes on below the name of its speaker', async () => {
    const script = await spoken(
      'TOM: Did you hear that? There was some-\nthing in the garden.\nANNA: No. It is the rain, and you know that\nas well as I do.\n',
    );
    expect(script.rows).toEqual([
      '{"text":"Did you hear that? There was something in the garden.","voice":"TOM"}',
      '{"text":"No. It is the rain, and you know that as well as I do.","voice":"ANNA"}',
    ]);
  });
});

describe('a list of one text a line', () => {
  it.each([
    'a fox in the snow at night, kodak portra\na crow on a post\na cat\n',
    'A fox in the snow at night, kodak portra\na crow on a post in the rain at dawn\na cat\n',
    'a fox in the snow,\na crow on a post,\na cat\n',
    'a fox in the snow,\na crow on a post,\n\na cat on a mat,\na dog,\n',
    'a red fox in the snow at night\nan owl\n\na cat in a garden by the sea\na dog\n',
    'A red fox in the snow at night\nAn owl\n\nA cat in a garden by the sea\nA dog\n',
    'A fox. It runs in the snow at night.\nA crow. It sits.\n\nA cat.\n',
    'Roses are red,\nViolets are blue.\n\nSugar is sweet,\nAnd so are you.\n\nThe end.\n',
    'a well-known fox\na pre-raphaelite crow -\nan owl\n',
    'Foxes\n\na red fox in the snow at night\na white fox\n',
  ])('is sent as it stands, and nothing is asked: %j', async (text) => {
    const list = await read('a.txt', text);
    expect(textsIn(list, 'prompt')).toEqual(text.split('\n').filter((line) => line !== ''));
    expect(questions(list.guesses)).toEqual([]);
  });
});
