// Columns that nothing names as an input: their values, or another common name, show that one is meant, and it is asked about.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const SPEECH = [
  input('text', 'string', { required: true }),
  input('voice', 'string'),
  input('speed', 'float', { min: 0.5, max: 2 }),
];
const VOICES = [
  input('text', 'string', { required: true }),
  input('voice', 'string', { options: ['en-US-AmyNeural', 'en-US-BrianNeural'] }),
];
const PICTURE = [
  input('prompt', 'string', { required: true }),
  input('seed', 'seed'),
  input('background', 'string'),
  input('steps', 'int', { min: 1, max: 150 }),
  input('variants', 'int', { min: 1, max: 8 }),
];

async function askedIn(text: string, inputTypes: typeof SPEECH): Promise<readonly string[]> {
  const { guesses } = await read('a.csv', text, {}, { inputTypes });
  return guesses.filter((guess) => guess.startsWith('? '));
}

describe('a column with another name of an input', () => {
  it.each(['Speaker', 'Sprecher', 'Personnage', 'Locuteur'])('is asked to be the voice: %s', async (name) => {
    const { rows, guesses } = await read(
      'a.csv',
      `text,${name},Tempo\nGood morning.,Amy,0.9\nGood night.,Tom,1.2\n`,
      {},
      { inputTypes: SPEECH },
    );
    expect(rows).toEqual([
      '{"speed":0.9,"text":"Good morning.","voice":"Amy"}',
      '{"speed":1.2,"text":"Good night.","voice":"Tom"}',
    ]);
    expect(guesses).toEqual([
      `? column "${name}" is the input voice, not data (--map voice=${name})`,
      '? column "Tempo" is the input speed, not data (--map speed=Tempo)',
    ]);
  });

  it('is asked to be the seed or the background', async () => {
    const text = 'prompt,Hintergrund,Startwert\na fox,white,12\nan owl,black,7\n';
    const { rows } = await read('a.csv', text, {}, { inputTypes: PICTURE });
    expect(rows).toEqual([
      '{"background":"white","prompt":"a fox","seed":12}',
      '{"background":"black","prompt":"an owl","seed":7}',
    ]);
    expect(await askedIn(text, PICTURE)).toHaveLength(2);
  });

  it('is data where no input is meant', async () => {
    const drawn = [input('prompt', 'string', { required: true })];
    expect(
      await askedIn('prompt,Speaker,Background\na fox,Amy Hill,law\nan owl,Tom Rye,arts\n', drawn),
    ).toEqual([]);
  });
});

describe('a column whose cells are values of one input', () => {
  it('is asked about where they lie in a narrow range', async () => {
    expect(await askedIn('text,Allure\nGood morning.,0.9\nGood night.,"1,2"\n', SPEECH)).toEqual([
      '? column "Allure" is not sent, and speed has no column; to send it: --map speed=Allure (--drop Allure)',
    ]);
  });

  it('is asked about where they are words of the choices', async () => {
    expect(await askedIn('text,Who\nGood morning.,Amy\nGood night.,BRIAN\n', VOICES)).toEqual([
      '? column "Who" is not sent, and voice has no column; to send it: --map voice=Who (--drop Who)',
    ]);
    expect(await askedIn('text,Who\nGood morning.,Tom\nGood night.,Ann\n', VOICES)).toEqual([]);
  });

  it.each([
    ['a price', 'Price', '12.5,9.9,1.99'],
    ['a stock', 'Stock', '30,0,112'],
    ['the number of the row', 'Shot', '1,2,3'],
    ['another setting', 'Batch size', '2,1,4'],
  ])('is data if it is %s', async (_, name, cells) => {
    const rows = cells.split(',').map((cell, at) => `fox ${at},${cell}\n`);
    const questions = await askedIn(`prompt,${name}\n${rows.join('')}`, PICTURE);
    expect(questions.filter((question) => question.includes('has no column'))).toEqual([]);
  });
});
