// Lists of texts as people write them: with bullets and numbers in front of their lines.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

describe('a list whose first line begins with a sign of JSON', () => {
  it.each([
    ['[Intro] Hello\nthere\n', ['[Intro] Hello', 'there']],
    ['[00:12] Hello\n[00:14] there\n', ['Hello', 'there']],
    ['{red|blue} fox\n{old|young} owl\n', ['{red|blue} fox', '{old|young} owl']],
  ])('is read line by line: %j', async (text, prompts) => {
    const { rows } = await read('list.txt', text);
    expect(rows).toEqual(prompts.map((prompt) => JSON.stringify({ prompt })));
  });

  it.each([
    ['list.txt', '{red|blue} fox\n{old|young} owl\na hare\n'],
    ['list.csv', 'prompt\n{red|blue} fox\n{old|young} owl\n'],
    ['list.csv', 'id,prompt\n1,{red|blue} fox\n2,{old|young} owl\n'],
  ])('has no columns between the choices in braces: %s %j', async (name, text) => {
    const { rows, guesses } = await read(name, text);
    expect(rows[0]).toContain('{"prompt":"{red|blue} fox"}');
    expect(guesses.join()).toContain('{red|blue}, which is sent as text');
  });

  it('is asked about where its braces have choices', async () => {
    const { guesses } = await read('list.txt', '{red|blue} fox\nan owl\n');
    expect(guesses).toContain(
      '? cells of "prompt" have {red|blue}, which is sent as text (--map prompt=prompt)',
    );
  });
});

describe('bullets of a list', () => {
  it.each([
    ['- a red fox\n- an owl\n\n- a cat\n', '"- "'],
    ['• a red fox\n• an owl\n• a cat\n', '"• "'],
    ['1. a red fox\n2. an owl\n3. a cat\n', '"1. " and "2. "'],
    ['1) a red fox\n2) an owl\n3) a cat\n', '"1) " and "2) "'],
    ['Prompt 1: a red fox\nPrompt 2: an owl\nPrompt 3: a cat\n', '"Prompt 1: " and "Prompt 2: "'],
    ['- [x] a red fox\n- [ ] an owl\n- [ ] a cat\n', '"- [x] " and "- [ ] "'],
    ['  * a red fox\n  * an owl\n  * a cat\n', '"* "'],
  ])('are asked about and left out: %j', async (text, signs) => {
    const { rows, guesses } = await read('list.txt', text);
    expect(rows).toEqual(['{"prompt":"a red fox"}', '{"prompt":"an owl"}', '{"prompt":"a cat"}']);
    expect(guesses).toContain(
      `? each line begins with a bullet or number, such as ${signs}, which is left out of the text; to send it: --tags send (--tags strip)`,
    );
    const sent = await read('list.txt', text, { tags: 'send' });
    expect(sent.rows[0]).toBe(JSON.stringify({ prompt: text.split('\n')[0] }));
  });

  it('are asked about with the lines that have none, which can be left out', async () => {
    const text = 'Shopping list\n- a fox\n- a dog that\nbarks\n- a cat\n\n[end]\n';
    const { rows, guesses } = await read('list.txt', text);
    expect(rows[3]).toBe('{"prompt":"barks"}');
    expect(guesses).toContain(
      '? 3 of 5 lines begin with a bullet or number, such as "- ", which is left out of the text; lines 1,4 ("Shopping list", "barks") have none; to send it: --tags send; to leave those lines out: --skip-rows 1,4,7 --tags strip (--tags strip)',
    );
  });

  it('are asked about with their number if some lines have none', async () => {
    const { rows, guesses } = await read('list.txt', '1. a red fox\n2. an owl\n\na cat\n');
    expect(rows).toEqual(['{"prompt":"a red fox"}', '{"prompt":"an owl"}', '{"prompt":"a cat"}']);
    expect(guesses.find((guess) => guess.startsWith('? '))).toContain('2 of 3 lines begin with a bullet');
  });

  it('begin texts that go on in the next line, unless a heading is above the list', async () => {
    const wrapped = '1. A red fox\nin snow,\nat night\n2. An owl\n';
    const { rows, guesses } = await read('list.txt', wrapped);
    expect(rows).toEqual(['{"prompt":"A red fox in snow, at night"}', '{"prompt":"An owl"}']);
    expect(guesses).toContain(
      '? lines 2-3 ("in snow,", "at night") continue the text above and are joined to it; to send them as texts of their own: --tags strip; to send each line as it stands: --tags send (--unquoted prompt)',
    );
    const list = { delimiter: 'none', headerRow: 0, columns: ['prompt'], tags: 'strip' } as const;
    expect(await read('list.txt', wrapped, { ...list, unquoted: 'prompt' })).toEqual({ rows, guesses: [] });
    const apart = await read('list.txt', wrapped, list);
    expect(apart.rows.slice(1, 3)).toEqual(['{"prompt":"in snow,"}', '{"prompt":"at night"}']);
    expect(apart.guesses).toEqual([]);
    const headed = await read('list.txt', 'Animals\n- fox\n- owl\nPlants\n- oak that\n  grows\n- fir\n');
    expect(headed.rows).toEqual(
      ['Animals', 'fox', 'owl', 'Plants', 'oak that grows', 'fir'].map((prompt) =>
        JSON.stringify({ prompt }),
      ),
    );
  });

  it('are asked about in a list that flags describe, and in prompts for Midjourney', async () => {
    const list = { delimiter: 'none', headerRow: 0, columns: ['prompt'] } as const;
    const told = await read('list.csv', '- a red fox\n- an owl\n', list);
    expect(told.rows).toEqual(['{"prompt":"a red fox"}', '{"prompt":"an owl"}']);
    const inputTypes = [input('prompt', 'string', { required: true }), input('aspect_ratio', 'string')];
    const mj = await read('mj.txt', '1. a fox --ar 3:2\n2. an owl --ar 1:1\n', {}, { inputTypes });
    expect(mj.rows).toEqual([
      '{"aspect_ratio":"3:2","prompt":"a fox"}',
      '{"aspect_ratio":"1:1","prompt":"an owl"}',
    ]);
    for (const { guesses } of [told, mj]) expect(guesses.join()).toContain('--tags send');
  });

  it.each([
    '3 foxes in snow\n2 owls\n',
    'well-known fox\nan owl\n',
    '-5 degrees\n-3 degrees\n',
    'A fox. Snow.\nB. an owl\nc\n',
  ])('are none in %j', async (text) => {
    const { rows, guesses } = await read('list.txt', text);
    expect(rows[0]).toBe(JSON.stringify({ prompt: text.split('\n')[0] }));
    expect(guesses.join()).not.toContain('--tags');
  });
});

describe('a head that counts the texts of a list', () => {
  it.each([
    ['Scene 1', 'Scene 2', 'Scene 3'],
    ['Prompt 1:', 'Prompt 2:', 'Prompt 3:'],
    ['**Bild 1**', '**Bild 2**', '**Bild 3**'],
    ['1', '2', '3'],
    ['Shot 1 - The wood', 'Shot 2 – The lake', 'Shot 3 - The sea'],
  ])('is asked about and left out: %s', async (...heads) => {
    const texts = ['a red fox', 'an owl', 'a cat'];
    const { rows, guesses } = await read(
      'list.txt',
      heads.map((head, at) => `${head}\n${texts[at]}\n\n`).join(''),
    );
    expect(rows).toEqual(texts.map((prompt) => JSON.stringify({ prompt })));
    expect(guesses).toContain(
      `? 3 lines are no texts, and are left out: lines 1,4,7 ("${heads.join('", "')}"); to send all lines: --skip-rows none (--skip-rows 1,4,7)`,
    );
  });

  it('is said to stand above several texts', async () => {
    const { guesses } = await read('list.txt', 'Scene 1\na fox\nin snow\nScene 2\nan owl\n');
    expect(guesses.join()).toContain('; several lines are below 1 of them, and each is a text of its own');
    const wrapped = 'Scene 1\na fox\n  in snow\nScene 2\nan owl\n';
    const answered = await read('list.txt', wrapped, {
      unquoted: 'prompt',
      skipRows: [
        { from: 1, to: 1 },
        { from: 4, to: 4 },
      ],
    });
    expect(answered.rows).toEqual(['{"prompt":"a fox in snow"}', '{"prompt":"an owl"}']);
    expect((await read('list.txt', wrapped)).guesses.join()).not.toContain('several lines');
  });

  it.each([
    'cat 1\ncat 2\ncat 3\n',
    'room 7\na fox\nroom 9\nan owl\n',
    'cat 1\na fox\ncat 2\n',
    'Level 1\na fox\nan owl\n',
  ])('is a text in %j', async (text) => {
    const { rows, guesses } = await read('list.txt', text);
    expect(rows).toEqual(
      text
        .trim()
        .split('\n')
        .map((prompt) => JSON.stringify({ prompt })),
    );
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });
});

describe('an indented line of a list', () => {
  const promptsIn = ({ rows }: Awaited<ReturnType<typeof read>>) =>
    rows.map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as { prompt: string }).prompt);
  const LIST = 'A red fox,\n  in the snow,\n\tat night\nAn owl\n\n  A cat\n';

  it('is joined to the text above, which is asked, unless an empty line stands between', async () => {
    const list = await read('list.txt', LIST);
    expect(promptsIn(list)).toEqual(['A red fox, in the snow, at night', 'An owl', '  A cat']);
    expect(list.guesses.filter((guess) => guess.startsWith('?'))).toEqual([
      '? lines 2-3 ("in the snow,", "at night") continue the text above and are joined to it; to send each line as it stands: --tags send (--unquoted prompt)',
    ]);
    const told = { delimiter: 'none', headerRow: 0, columns: ['prompt'] } as const;
    const again = await read('list.txt', LIST, { ...told, unquoted: 'prompt' });
    expect(again).toEqual({ rows: list.rows, guesses: [] });
    const sent = await read('list.txt', LIST, { ...told, tags: 'send' });
    expect(promptsIn(sent)).toEqual(['A red fox,', '  in the snow,', '\tat night', 'An owl', '  A cat']);
  });

  it('continues a text with a bullet, and is none if it has one', async () => {
    const list = await read('list.txt', '1. a dog that\n   barks\n2. a cat\n  - asleep\n');
    expect(promptsIn(list)).toEqual(['a dog that barks', 'a cat', 'asleep']);
  });

  it('is left out of the text if it is a stage direction, or chosen', async () => {
    const list = await read('list.txt', 'A fox\n  (laughs)\n  runs\nAn owl\n[pause]\n  A cat\n');
    expect(promptsIn(list)).toEqual(['A fox runs', 'An owl', '  A cat']);
    const told = { delimiter: 'none', headerRow: 0, columns: ['prompt'], unquoted: 'prompt' } as const;
    const without = await read('list.txt', 'A fox\n  runs\nAn owl\n', {
      ...told,
      skipRows: [{ from: 2, to: 2 }],
    });
    expect(promptsIn(without)).toEqual(['A fox', 'An owl']);
  });
});

describe('marks of a chat in the lines of a list', () => {
  it.each([
    ['**a fox at night**\na crow\n', '**a fox at night**'],
    ['a fox\na ~~red~~ crow\na cat\n', '~~red~~'],
    ['a fox\n✓ a crow\na cat\n', '✓'],
  ])('are asked about and sent: %j', async (text, mark) => {
    const { rows, guesses } = await read('list.txt', text);
    expect(rows).toEqual(
      text
        .trim()
        .split('\n')
        .map((prompt) => JSON.stringify({ prompt })),
    );
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([
      `? cells of "prompt" have ${mark}, which is sent as text; to send the text without it: --tags plain (--map prompt=prompt)`,
    ]);
  });
});

describe('lines on top of a list that are unlike all others', () => {
  const NOTES = 'Prompts for the cover (Mara, 3 Nov)\nNB: only the first two!\n';

  it.each([
    ['with capitals', `${NOTES}a fox at night\na crow in snow\nan owl\n`, '1-2'],
    ['before the only empty line', `${NOTES}\nA fox at night\nA crow in snow\nAn owl\n`, '1-2'],
    [
      'without the end of a sentence',
      'The cover\nA fox sleeps.\nA crow sits in snow.\nAn owl sits on it.\n',
      '1',
    ],
  ])('are asked about, and left out by the printed answer: %s', async (_, text, lines) => {
    const [last = 1] = lines.split('-').map(Number).reverse();
    const list = await read('list.txt', text);
    expect(list.rows).toHaveLength(last + 3);
    const questions = list.guesses.filter((guess) => guess.startsWith('?'));
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatch(
      new RegExp(`on top like a title or a note, .*: --skip-rows ${lines} \\(--skip-rows none\\)$`),
    );
    const left = await read('list.txt', text, { skipRows: [{ from: 1, to: last }] });
    expect([left.rows.length, left.guesses.filter((guess) => guess.startsWith('?'))]).toEqual([3, []]);
    const sent = await read('list.txt', text, { skipRows: [] });
    expect([sent.rows.length, sent.guesses.filter((guess) => guess.startsWith('?'))]).toEqual([last + 3, []]);
  });

  it.each([
    ['some others are like them', 'A fox\nan owl\nA crow\na bee\na cat\n'],
    ['empty lines stand between others too', 'A fox\n\nAn owl\n\nA crow\nA bee\nA cat\n'],
    ['there are many of them', 'A\nB\nC\nD\na bee\na cat\na dog\n'],
    ['few others follow', 'A fox\nan owl\na bee\n'],
  ])('are texts if %s', async (_, text) => {
    expect((await read('list.txt', text)).guesses.join()).not.toContain('on top');
  });
});

describe('lines of a list that are in quotes', () => {
  const list = '"an owl, at night"\n“a dog”\na fox\n"a cat" and "a mouse"\n24" screen\n';

  it('are asked about among others, and sent with them or without', async () => {
    const { rows, guesses } = await read('list.txt', list);
    expect(rows[0]).toBe(String.raw`{"prompt":"\"an owl, at night\""}`);
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([
      '? 2 of 5 lines are in quotes, which are sent with them: lines 1-2 (""an owl, at night"", "“a dog”"); to send none around a whole line, if they are straight: --quote loose (--quote none)',
    ]);
    const told = { delimiter: 'none', headerRow: 0, columns: ['prompt'] } as const;
    const without = await read('list.txt', list, { ...told, quote: 'loose' });
    expect(without.rows).toEqual(
      ['an owl, at night', '“a dog”', 'a fox', '"a cat" and "a mouse"', '24" screen'].map((prompt) =>
        JSON.stringify({ prompt }),
      ),
    );
    const sent = await read('list.txt', list, { ...told, quote: 'none' });
    expect(sent.rows).toEqual(rows);
    expect(sent.guesses).toEqual([]);
  });

  it('are none where several quotes stand in each', async () => {
    const { guesses } = await read('list.txt', '"a cat" and "a mouse"\na fox\n');
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });
});
