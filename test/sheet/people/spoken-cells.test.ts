// Cells of a table that no voice should read aloud: stage directions, rules between texts, and names in front of a text.

import { describe, expect, it } from 'vitest';
import type { SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const SPEECH = { inputTypes: [input('text', 'string', { required: true }), input('voice', 'string')] };

const questionsIn = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));

describe('a cell that is no text', () => {
  const TEXTS = ['Good morning.', 'How are you?', 'Fine.', 'Good night.'];
  const SCRIPT = [...TEXTS, '[pause]', '(laughs)', '♪', '* * *', '---', 'ANNA:'];
  const TABLE = `id,text\n${SCRIPT.map((text, at) => `s${at},${text}\n`).join('')}`;

  it('is asked about and left out with its row', async () => {
    const { rows, guesses } = await read('a.csv', TABLE, {}, SPEECH);
    expect(rows).toEqual(TEXTS.map((text, at) => `s${at} ${JSON.stringify({ text })}`));
    expect(questionsIn(guesses)).toEqual([
      '? rows 6-11 ("[pause]", "(laughs)", "♪", "* * *", "---", …) have no text to send; to send all rows: --totals send (--totals skip)',
    ]);
  });

  it('is sent by the other answer, and not mentioned where rows have been chosen', async () => {
    const sent = await read('a.csv', TABLE, { totals: 'send' }, SPEECH);
    expect(sent.rows).toHaveLength(SCRIPT.length);
    expect(questionsIn(sent.guesses)).toEqual([]);
    expect((await read('a.csv', TABLE, { skipRows: [] }, SPEECH)).rows).toHaveLength(SCRIPT.length);
  });

  it('is left out beside a total', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed\na fox,1\n[pause],2\nTotal,3\n');
    expect(rows).toEqual(['{"prompt":"a fox","seed":1}']);
    expect(questionsIn(guesses)).toEqual([
      '? row 4 ("Total 3") is not a row of the batch; row 3 ("[pause]") has no text to send; to send all rows: --totals send (--totals skip)',
    ]);
  });

  it('is a text where most are in brackets, in another column, and between words', async () => {
    for (const text of [
      'prompt,seed\n(fox),1\n[owl],2\na cat,3\n',
      'prompt,mood\na fox,[calm]\nan owl,(wild)\n',
      'prompt,seed\n[night] a fox,1\nan owl (old),2\n',
    ])
      expect(questionsIn((await read('a.csv', text)).guesses)).toEqual([]);
  });
});

describe('a direction inside a text', () => {
  it.each([
    ['(sighs) The wheel is still.', '(sighs)'],
    ['Yes. (coughs) Alone.', '(coughs)'],
    ['You talk? [music: flute]', '[music: flute]'],
  ])('is asked about where texts are spoken: %s', async (text, mark) => {
    const { rows, guesses } = await read('a.csv', `id,text\n1,${text}\n2,Good night.\n`, {}, SPEECH);
    expect(rows[0]).toBe(`1 ${JSON.stringify({ text })}`);
    expect(questionsIn(guesses)).toEqual([
      `? cells of "text" have ${mark}, which is sent as text; to send the text without it: --tags plain (--tags send)`,
    ]);
  });

  it('is asked about in a mapped column too, whose cells the printed command has not shown', async () => {
    const text = 'nr,line\n1,Hello. [Pause 2 Sek.] Come in.\n2,Sit down.\n';
    const questions = async (options: Partial<SheetOptions>) =>
      questionsIn((await read('a.csv', text, options, SPEECH)).guesses);
    expect(await questions({ map: { text: 'line' } })).toEqual([
      '? cells of "line" have [Pause 2 Sek.], which is sent as text; to send the text without it: --tags plain (--tags send)',
    ]);
    expect(await questions({ map: { text: 'line' }, tags: 'send' })).toEqual([]);
  });

  it.each([
    'Press [E].',
    'Hello {player}!',
    'You have %s coins.',
    'Gain $0 mana.',
    'One.\\\\nTwo.',
    'Hi %NAME%.',
  ])('is asked about where a program would fill it in: %s', async (first) => {
    const { guesses } = await read('a.csv', `id,text\n1,${first}\n2,Sit down.\n`, {}, SPEECH);
    expect(questionsIn(guesses)[0]).toMatch(
      /^\? cells of "text" have .*, which is sent as text;? .*\(--tags send\)$/,
    );
  });

  it('is none as a price or a share', async () => {
    const { guesses } = await read(
      'a.csv',
      'id,text\n1,It costs $5 or 100% of it.\n2,Sit down.\n',
      {},
      SPEECH,
    );
    expect(questionsIn(guesses)).toEqual([]);
  });

  it('is asked about in a template of one cell as in a column', async () => {
    const text = 'nr,line\n1,(sighs) The wheel is still.\n2,(original sound)\n3,Sit down.\n4,Stay here.\n';
    const { rows, guesses } = await read('a.csv', text, { set: { text: '{line}' } }, SPEECH);
    expect(questionsIn(guesses)).toEqual([
      expect.stringMatching(/^\? cells of "line" have \(sighs\), which is sent as text;/),
      expect.stringMatching(/^\? row 3 \("\(original sound\)"\) has no text to send;/),
    ]);
    expect(rows).toHaveLength(3);
  });

  it('is none among other words, as a sentence, and for a picture', async () => {
    const said = 'id,text\n1,The UN (United Nations) met.\n2,(It rained.) He left.\n';
    expect(questionsIn((await read('a.csv', said, {}, SPEECH)).guesses)).toEqual([]);
    expect(questionsIn((await read('a.csv', 'prompt,seed\n(old) a fox [night],1\n')).guesses)).toEqual([]);
  });
});

describe('a name in front of a text', () => {
  it('is asked about where texts are spoken', async () => {
    const { rows, guesses } = await read(
      'a.csv',
      'id,text\n1,ANNA: Hello.\n2,TOM: Hi.\n3,Bye.\n',
      {},
      SPEECH,
    );
    expect(rows[0]).toBe('1 {"text":"ANNA: Hello."}');
    expect(questionsIn(guesses)).toEqual([
      '? cells of "text" begin with a name, which is sent with the text: ANNA, TOM; to send none, give names a column of their own (--tags send)',
    ]);
    const told = await read('a.csv', 'text\nANNA: Hello.\nTOM: Hi.\n', { tags: 'send' }, SPEECH);
    expect(questionsIn(told.guesses)).toEqual([]);
  });

  it.each(['ANNA Hello.,PAUL Well met.,ANNA Good night.', 'Anna - Hello.,Paul – Hi.,Anna - Bye.'])(
    'is asked about without a colon where names come again: %s',
    async (texts) => {
      const rows = texts.split(',').map((text, at) => `${at + 1},${text}\n`);
      const { guesses } = await read('a.csv', `id,text\n${rows.join('')}`, {}, SPEECH);
      expect(questionsIn(guesses)).toEqual([expect.stringContaining('begin with a name')]);
    },
  );

  it.each([
    ['a picture is made of it', 'prompt', 'ANNA: Hello.,TOM: Hi.'],
    ['one text has a colon', 'text', 'Note: hello.,Good night.,Good day.'],
    ['capitals are words', 'text', 'NASA Landed.,BBC News.,UN Met.,USA Won.'],
    ['one text has a dash', 'text', 'Now - or never.,Good night.,Good day.'],
  ])('is a part of it where %s', async (_, name, texts) => {
    const inputTypes = [input(name, 'string', { required: true }), input('seed', 'seed')];
    const rows = texts.split(',').map((text, at) => `s${at},${text}\n`);
    const { guesses } = await read('a.csv', `id,${name}\n${rows.join('')}`, {}, { inputTypes });
    expect(questionsIn(guesses)).toEqual([]);
  });
});

describe('a column of speakers that is called otherwise', () => {
  const LINES = [
    ['Anna', 'Good morning.'],
    ['Paul', 'Hello.'],
    ['Anna', 'How are you?'],
  ];
  const tableOf = (name: string, cells = LINES.map(([who]) => who)) =>
    `${name},Text\n${LINES.map(([, text], at) => `${cells[at]},${text}\n`).join('')}`;

  it.each(['Who', 'Wer', 'Rolle', 'Part'])('is asked about, and sent if so chosen: %s', async (name) => {
    const { guesses } = await read('a.csv', tableOf(name), {}, SPEECH);
    expect(questionsIn(guesses)).toEqual([
      `? column "${name}" is not sent, and voice has no column; to send it: --map voice=${name} (--drop ${name})`,
    ]);
    const { rows } = await read('a.csv', tableOf(name), { map: { voice: name } }, SPEECH);
    expect(rows[2]).toBe('{"text":"How are you?","voice":"Anna"}');
  });

  it('is asked about, too, if no name comes again and no other column is left', async () => {
    const cells = ['Anna', 'Paul', 'Eva'];
    expect(questionsIn((await read('a.csv', tableOf('Who', cells), {}, SPEECH)).guesses)).toHaveLength(1);
    const wide = 'Who,Text,Ort,Datei\nAnna,Hello.,Rom,a\nPaul,Good night.,Ulm,b\n';
    expect((await read('a.csv', wide, {}, SPEECH)).guesses.join()).not.toContain('voice');
  });

  it('is one whose cells are short names that come again', async () => {
    for (const cells of [
      ['Anna Holm', 'Paul Holm', 'Eva Holm'],
      ['calm', 'sad', 'calm'],
      ['1', '2', '1'],
      ['Monday', 'Tuesday', 'Monday'],
      ['2026-01-02', '2026-01-03', '2026-01-02'],
    ])
      expect((await read('a.csv', tableOf('Part', cells), {}, SPEECH)).guesses.join()).not.toContain('voice');
    const mapped = await read('a.csv', tableOf('Who'), { set: { voice: 'amy' } }, SPEECH);
    expect(questionsIn(mapped.guesses)).toEqual([]);
  });
});

describe('a column of texts for each speaker', () => {
  it.each([
    'Anna,Paul\nGood morning.,\n,Hello there.\nFine.,\n',
    'Nr,Anna,Paul\n1,Good morning.,\n2,,Hello there.\n',
  ])('is refused by its names, without a command that leaves out the others: %j', async (text) => {
    await expect(read('a.csv', text, {}, SPEECH)).rejects.toMatchObject({
      code: 'E104',
      message: expect.stringContaining('another of the columns "Anna", "Paul"') as string,
      hint: expect.not.stringContaining('--map') as string,
    });
  });

  it('is none where a row has several', async () => {
    const both = 'Anna,Paul\nGood morning.,Hello there.\nFine.,\n';
    await expect(read('a.csv', both, {}, SPEECH)).rejects.toMatchObject({ problems: [{ code: 'E203' }] });
  });
});

it.each(['Sprecher*in', 'Locutor/a', 'Sprecher/-in', 'Sprecher:in'])(
  'a column with both genders is the voice, which is asked: %s',
  async (name) => {
    const { rows, guesses } = await read('a.csv', `text,${name}\nHello.,Ann\nBye.,Bob\n`, {}, SPEECH);
    expect(rows[0]).toBe('{"text":"Hello.","voice":"Ann"}');
    expect(questionsIn(guesses)[0]).toContain(`column "${name}" is the input voice`);
  },
);
