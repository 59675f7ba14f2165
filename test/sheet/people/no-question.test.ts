// Plain sheets about which a careful person has no question.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const CHAT = [
  input('prompt', 'string', { required: true }),
  input('system', 'string'),
  input('model', 'string'),
];
const SPEECH = [
  input('text', 'string', { required: true }),
  input('voice', 'string'),
  input('speed', 'float'),
];

async function askedIn(
  name: string,
  text: string,
  inputTypes: typeof CHAT,
  options: Parameters<typeof read>[2] = {},
): Promise<readonly string[]> {
  const { guesses } = await read(name, text, options, { inputTypes });
  return guesses.filter((guess) => guess.startsWith('? '));
}

describe('a plain sheet raises no question', () => {
  it('if the first word of a list of words has a capital', async () => {
    expect(await askedIn('a.txt', 'Junoesque\naesthetic\nalluring\nappealing\nbeaming\n', CHAT)).toEqual([]);
  });

  it.each(['1.', '2024.', '…and so on.', '...đó là nó "đầy đủ".'])('if a cue is %s', async (text) => {
    const texts = ['In my last video I asked this.', text, 'Then connect every pair.', 'And count.'];
    const cues = texts.map((cue, at) => `${at + 1}\n00:0${at},000 --> 00:0${at + 1},000\n${cue}\n`);
    expect(await askedIn('a.srt', cues.join('\n'), SPEECH)).toEqual([]);
  });

  it('if one of many columns of an article says yes and no', async () => {
    const names = ['Title', 'Vendor', 'Variant SKU', 'Variant Grams', 'Variant Price', 'Variant Taxable'];
    const further = ['Image', 'Weight unit', 'Tags'];
    const rows = ['true', 'false', ''].map((word, at) =>
      [`Candle ${at}`, 'hy', `GRE-${at}`, `${at}00`, `1${at}.00`, word, `${at}.png`, 'kg', 'yellow'].join(
        ',',
      ),
    );
    const text = `prompt,${[...names, ...further].join(',')}\n${rows.map((row, at) => `a fox ${at},${row}\n`).join('')}`;
    expect(await askedIn('a.csv', text, CHAT)).toEqual([]);
  });

  it('if a column beside the prompts has their titles', async () => {
    const rows = [
      'Spoken Word Without Music,Create a quiet underscore for a reading.',
      'Print Arrays by Sequence,Take this array and print its elements.',
      'Bible Scholar of the Old School,I want you to act as a theologian.',
    ];
    expect(await askedIn('a.csv', `Mimic,Prompt\n${rows.join('\n')}\n`, CHAT)).toEqual([]);
  });

  it('but one if the input takes such titles', async () => {
    const rows = ['Red Wool Sweater of Ida,a photo in snow', 'Blue Linen Shirt for Men,a photo at sea'];
    const inputTypes = [input('prompt', 'string', { required: true }), input('product_name', 'string')];
    expect(await askedIn('a.csv', `Item,prompt\n${rows.join('\n')}\n`, inputTypes)).toEqual([
      '? column "Item" is not sent, and product_name has no column; to send it: --map product_name=Item (--drop Item)',
    ]);
  });

  it('if an empty column repeats its header', async () => {
    const text =
      'Description,text\n,Good morning to you.\n,See you at noon.\nDescription,A header.\n,Good night.\n';
    expect(await askedIn('a.csv', text, SPEECH)).toEqual([]);
  });

  it('if a column has single letters', async () => {
    const rows = ['A,Most sewists avoid this.', 'B,Why is that so?', 'A,Look at the seam.'];
    expect(await askedIn('a.csv', `Shot,text\n${rows.join('\n')}\n`, SPEECH)).toEqual([]);
  });
});

describe('a column without a name is offered to no input that cannot take its cells', () => {
  it.each([
    ['numbers of files', '4494640', '27999850'],
    ['numbers of speakers', '67', '3'],
    ['names of files', 'GLaDOS_wakeup01_ru', 'GLaDOS_wakeup04_ru'],
  ])('as %s', async (_, first, second) => {
    const text = `${first};Missile neutralized.\n${second};Shield protection, falling.\n${second}1;Hostile system.\n`;
    const columns = { headerRow: 0, columns: ['A', 'text'] };
    const questions = await askedIn('a.csv', text, SPEECH, columns);
    expect(questions.join()).not.toMatch(/--map (?:speed|voice)=/);
  });

  it('and to one that can', async () => {
    const text = '0.9;Missile neutralized.\n1.2;Shield protection, falling.\n1;Hostile system.\n';
    const questions = await askedIn('a.csv', text, SPEECH, { headerRow: 0, columns: ['A', 'text'] });
    expect(questions.join()).toContain('to send it: --map speed=A');
  });
});
