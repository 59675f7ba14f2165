// Prompts with parameters of Midjourney, and texts that only look like them.

import { describe, expect, it } from 'vitest';
import { midjourneyCells } from '../../../src/sheet/trade/midjourney.ts';
import { input } from '../laying.ts';
import { read } from '../people/reading.ts';

const TTS = [input('text', 'string', { required: true }), input('speed', 'float')];

const SIZED = [
  input('prompt', 'string', { required: true }),
  input('negative_prompt', 'string'),
  input('seed', 'int'),
  input('width', 'int'),
  input('height', 'int'),
];

describe('prompts with parameters of Midjourney', () => {
  const PROMPTS = [
    '/imagine prompt: https://a.b/c.png a fox in snow::2, blue::1 --ar 1:1 --seed 4242 --no people, text',
    'an owl --ar 16:9 --v 6.1 --style raw',
    'a plain cat',
  ];
  const ROWS = [
    '{"height":1024,"negative_prompt":"people, text","prompt":"a fox in snow, blue","seed":4242,"width":1024}',
    '{"height":768,"prompt":"an owl","width":1344}',
    '{"prompt":"a plain cat"}',
  ];

  it.each([
    ['mj.txt', PROMPTS.join('\n')],
    ['list.csv', PROMPTS.map((text) => `"${text}"`).join('\n')],
    ['mj.csv', `No;Prompt\n${PROMPTS.map((text, at) => `${at};"${text}"`).join('\n')}\n`],
    ['mj.tsv', `Prompt\tseed\n${PROMPTS.map((text) => `${text}\t`).join('\n')}\n`],
  ])('in %s are rows of a table, and what is not sent is asked by name', async (name, text) => {
    const { rows, guesses } = await read(name, text, {}, { inputTypes: SIZED });
    expect(rows.map((row) => row.replace(/^\d /, ''))).toEqual(ROWS);
    expect(guesses[0]).toBe(
      'prompts with parameters of Midjourney are read as a table; to send the texts as they stand: --format csv (--format midjourney)',
    );
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      '? a ratio is sent as a size: 1:1 is width 1024 and height 1024; to send no size: --drop width --drop height (--map width=width --map height=height)',
      '? parts of the prompts are not sent, because no input takes them: https://a.b/c.png, ::2, ::1, --v, --style (--drop image_prompt --drop weights --drop parameters)',
    ]);
  });

  it('keep what the row has of its own: unwanted words join, and any other parameter is named as not sent', async () => {
    const text =
      'prompt,negative prompt,seed,width,height\n"a fox --no snow --seed 9 --ar 16:9",blurry,1,512,512\n"an owl",,2,512,512\n';
    const { rows, guesses } = await read('own.csv', text, {}, { inputTypes: SIZED });
    expect(rows).toEqual([
      '{"height":512,"negative_prompt":"blurry, snow","prompt":"a fox","seed":1,"width":512}',
      '{"height":512,"prompt":"an owl","seed":2,"width":512}',
    ]);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      '? parts of the prompts are not sent, because no input takes them: --seed, --ar (--drop parameters)',
    ]);
  });

  const questions = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));

  it('are asked about once: the pasted answer about a size raises no question about its ratio', async () => {
    const map = { width: 'width', height: 'height' };
    const text = 'a fox --ar 16:9\nan owl --ar 1:1\n';
    const { rows, guesses } = await read('mj.txt', text, { map }, { inputTypes: SIZED });
    expect(rows[0]).toBe('{"height":768,"prompt":"a fox","width":1344}');
    expect(questions(guesses)).toEqual([]);
  });

  it('are read where one line of three has any, and can be where fewer have', async () => {
    const few = await read('mj.txt', 'a fox --ar 16:9\nan owl\na cat\n', {}, { inputTypes: SIZED });
    expect(few.rows).toEqual([
      '{"height":768,"prompt":"a fox","width":1344}',
      '{"prompt":"an owl"}',
      '{"prompt":"a cat"}',
    ]);
    const text = 'a fox --ar 16:9\nan owl\na cat\na hen\na cow\n';
    const { guesses } = await read('mj.txt', text, {}, { inputTypes: SIZED });
    expect(questions(guesses)).toEqual([
      '? cells of "prompt" have --ar 16:9, which is sent as text; to read parameters of Midjourney: --format midjourney (--map prompt=prompt)',
    ]);
    const told = await read('mj.txt', text, {}, { inputTypes: SIZED, format: 'midjourney' });
    expect(told.rows[0]).toBe(few.rows[0]);
  });

  it('give no size to a row whose own ratio is another', async () => {
    const types = [...SIZED, input('aspect_ratio', 'string')];
    const text = 'prompt,aspect_ratio\na fox --ar 16:9,1:1\nan owl --ar 3:2,3:2\na cat --ar 9:16,\n';
    const { rows, guesses } = await read('a.csv', text, {}, { inputTypes: types });
    expect(rows).toEqual([
      '{"aspect_ratio":"1:1","prompt":"a fox"}',
      '{"aspect_ratio":"3:2","height":832,"prompt":"an owl","width":1280}',
      '{"aspect_ratio":"9:16","height":1344,"prompt":"a cat","width":768}',
    ]);
    expect(questions(guesses)[0]).toContain('a ratio is sent as a size: 3:2 is width 1280 and height 832');
    const sized = 'prompt,width,height\na fox --ar 16:9,512,512\na cat --ar 9:16,,\n';
    const own = await read('a.csv', sized, {}, { inputTypes: SIZED });
    expect(questions(own.guesses)[0]).toContain('9:16 is width 768 and height 1344');
  });

  it('are sent as they stand, which is asked, if a flag says so or the file is another', async () => {
    const own = await read('mj.txt', PROMPTS.join('\n'), {}, { inputTypes: SIZED, format: 'csv' });
    expect(own.rows).toEqual(PROMPTS.map((prompt) => JSON.stringify({ prompt })));
    const sent = '? cells of "prompt" have --ar 16:9, which is sent as text (--tags send)';
    const json = '[{"prompt":"an owl --ar 16:9"}]';
    expect((await read('a.json', json, { format: 'json' }, { inputTypes: SIZED })).guesses).toEqual([sent]);
    const stated = await read('a.json', json, { format: 'json', tags: 'send' }, { inputTypes: SIZED });
    expect(stated.guesses).toEqual([sent.slice(2)]);
  });

  it('leave a seed in its own column, and fill an input for ratios', async () => {
    const types = [...SIZED.slice(0, 3), input('aspect_ratio', 'string')];
    const text = 'prompt,Seed\nan owl --ar 2:3 --seed 5,7\na fox --seed 6,\n';
    const { rows, guesses } = await read('a.csv', text, {}, { inputTypes: types });
    expect(rows).toEqual([
      '{"aspect_ratio":"2:3","prompt":"an owl","seed":7}',
      '{"prompt":"a fox","seed":6}',
    ]);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      '? parts of the prompts are not sent, because no input takes them: --seed (--drop parameters)',
    ]);
  });

  it.each([
    [
      'an owl —ar 3:2 —v 6',
      'an owl',
      { aspect_ratio: '3:2', width: '1280', height: '832', parameters: '—v 6' },
    ],
    ['quiet —no one is there', 'quiet —no one is there', {}],
    ['red--so red', 'red--so red', {}],
    ['hot:: dog --no bun --no "ketchup"', 'hot dog', { weights: '::', negative_prompt: 'bun, "ketchup"' }],
    ['a cat --seed random', 'a cat', { parameters: '--seed random' }],
    [
      'an owl --ar 1:1 and more text, --v 6 please --tile',
      'an owl and more text, please',
      { aspect_ratio: '1:1', width: '1024', height: '1024', parameters: '--v 6 --tile' },
    ],
    [
      'a fox --sref https://a.b/c.png 12 --style raw',
      'a fox',
      { parameters: '--sref https://a.b/c.png 12 --style raw' },
    ],
    ['a man --no one knows him-- sits --v 6', 'a man --no one knows him-- sits', { parameters: '--v 6' }],
    ['a man --noble and kind--', 'a man --noble and kind--', {}],
  ])('%s is %s with %j', (prompt, text, cells) => {
    expect(midjourneyCells(prompt)).toEqual({ text, cells });
  });
});

describe('texts that are no prompts of Midjourney', () => {
  it.each([
    'A quiet man --no one knows him-- sits down.',
    'It was late --no one was there.',
    'Run npm install --save-dev, then git log --stat --no-pager.',
    'Start it with --version 2 or --fast to see more.',
    'The film --raw and loud-- begins.',
  ])('are sent as they stand without a question: %s', async (text) => {
    const sheet = `prompt\n${Array.from({ length: 3 }, (_, at) => `"${text} ${at}"\n`).join('')}`;
    const { rows, guesses } = await read('a.csv', sheet, {}, { inputTypes: SIZED });
    expect(rows[0]).toBe(JSON.stringify({ prompt: `${text} 0` }));
    expect(guesses.filter((guess) => /Midjourney|have --/.test(guess))).toEqual([]);
  });

  it('are all texts that are spoken, and a seed of their own is no speed', async () => {
    const inputTypes = [...TTS, input('seed', 'int')];
    const lines = ['Take --ar 16:9 for films.', 'The flag --seed 42', 'Say --s 750'];
    for (const [name, sheet] of [
      ['a.txt', lines.join('\n')],
      ['a.csv', `text\n${lines.map((line) => `"${line}"\n`).join('')}`],
      ['a.tsv', `text\n${lines.map((line) => `${line}\n`).join('')}`],
    ] as const) {
      const { rows } = await read(name, sheet, {}, { inputTypes });
      expect(rows).toEqual(lines.map((text) => JSON.stringify({ text })));
    }
  });
});

describe('permutations of Midjourney', () => {
  it.each(['{red, blue} bird --ar 1:1', 'a {red, blue} bird --ar 1:1', 'a bird --ar {1:1, 3:2} --v 6'])(
    'are refused by name, because each is several prompts: %s',
    async (line) => {
      await expect(
        read('a.txt', `${line}\nan owl --ar 3:2\n`, {}, { inputTypes: SIZED }),
      ).rejects.toMatchObject({
        problems: [
          {
            code: 'E103',
            message: expect.stringMatching(/^\{.*\} is a permutation/) as string,
            place: { line: 1 },
          },
        ],
      });
    },
  );
});
