// JSON as programs write it: lists within documents, columns, rows by name, and requests.

import type { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const json = { format: 'json' } as const;
const jsonl = { format: 'jsonl' } as const;
const TWO = ['{"prompt":"a","seed":1}', '{"prompt":"b","seed":2}'];

it.each([
  ['a.json', '[{"prompt":"a"},{"prompt":"b"},{"prompt":"a"}]', json],
  ['a.jsonl', '{"prompt":"a"}\n{"prompt":"b"}\n{"prompt":"a"}\n', jsonl],
])('equal rows of %s are asked about', async (file, text, options) => {
  const { rows, guesses } = await read(file, text, options);
  expect(rows).toHaveLength(3);
  expect(guesses).toContain('? row 3 equals row 1, and is run too; to leave it out: --unique (--no-unique)');
  expect((await read(file, text, { ...options, unique: true })).rows).toHaveLength(2);
});

describe('an empty text in JSON', () => {
  it('is refused for a required input, as an empty cell is, and sent for another', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('style', 'string')];
    for (const text of ['', ' ']) {
      const rows = `{"prompt":"fox","style":""}\n{"prompt":${JSON.stringify(text)}}\n`;
      await expect(read('a.jsonl', rows, jsonl, { inputTypes })).rejects.toMatchObject({
        problems: [{ code: 'E203', place: { line: 2 } }],
      });
    }
    const { rows } = await read('a.jsonl', '{"prompt":"fox","style":""}\n', jsonl, { inputTypes });
    expect(rows).toEqual(['{"prompt":"fox","style":""}']);
  });

  it('in a template is asked with its rows, as an empty cell is', async () => {
    const set = { prompt: '{what}, {style}' };
    const text = '{"what":"fox","style":"oil"}\n{"what":"owl","style":""}\n{"what":"cat"}\n';
    const { rows, guesses } = await read('a.jsonl', text, { ...jsonl, set });
    expect(rows).toEqual(['{"prompt":"fox, oil"}', '{"prompt":"owl"}', '{"prompt":"cat"}']);
    expect(guesses).toEqual([
      '? the text of prompt lacks "style" in rows 2-3, and is sent without it; to leave these rows out: --where \'style != ""\' (--set \'prompt={what}[, {style}]\')',
    ]);
  });
});

describe('a JSON document', () => {
  it('has its rows in a list', async () => {
    const text =
      '{"total": 2, "data": {"items": [{"prompt":"a","seed":1},{"prompt":"b","seed":2}]}, "next": null}';
    expect(await read('a.json', text, json)).toEqual({
      rows: TWO,
      guesses: ['the rows are in the list data.items (--records data.items)'],
    });
    expect((await read('a.json', text, { ...json, records: 'data.items' })).rows).toEqual(TWO);
    await expect(read('a.json', text, { ...json, records: 'items' })).rejects.toMatchObject({ code: 'E103' });
  });

  it('has several lists, of which the user names one', async () => {
    const text = '{"old": [{"prompt":"a"}], "new": [{"prompt":"b"}]}';
    await expect(read('a.json', text, json)).rejects.toMatchObject({
      code: 'E103',
      hint: 'name one of them: --records old, --records new',
    });
  });

  it.each(['{"prompt":{"0":"a","1":"b"},"seed":{"0":1,"1":2}}', '{"prompt":["a","b"],"seed":[1,2]}'])(
    'has columns: %s',
    async (text) => {
      expect(await read('a.json', text, json)).toEqual({
        rows: TWO,
        guesses: ['the document has columns, each with its values (--orient columns)'],
      });
    },
  );

  it('has rows by name', async () => {
    const text = '{"x": {"prompt":"a","seed":1}, "y": {"prompt":"b","seed":2}}';
    const { rows, guesses } = await read('a.json', text, json);
    expect(rows).toEqual([`x ${TWO[0]}`, `y ${TWO[1]}`]);
    expect(guesses[0]).toBe('each member of the document is a row (--orient index)');
  });

  it('has translated texts, each of which is a row with its path', async () => {
    const text =
      '{"_note":"by hand","intro":{"mira":"Halt!","guard":"Who?"},"port":{"guard":"Go.","end":""}}';
    const { rows, guesses } = await read('de.json', text, json);
    expect(rows).toEqual([
      'intro.mira {"prompt":"Halt!"}',
      'intro.guard {"prompt":"Who?"}',
      'port.guard {"prompt":"Go."}',
    ]);
    expect(guesses[0]).toContain('? each text of the document is a row');
  });

  it('is a list of texts', async () => {
    expect(await read('a.json', '["a fox", "an owl"]', json)).toEqual({
      rows: ['{"prompt":"a fox"}', '{"prompt":"an owl"}'],
      guesses: ['each value of the list is one prompt (--columns prompt)'],
    });
    const options = { ...json, columns: ['prompt', 'seed'] };
    expect((await read('a.json', '[["a",1],["b",2]]', options)).rows).toEqual(TWO);
  });
});

describe('a row of JSON', () => {
  it('has its inputs in an object, as requests have them', async () => {
    const text = TWO.map((row, at) => `{"id":${at},"inputs":${row}}`).join('\n');
    expect(await read('a.jsonl', text, jsonl)).toEqual({
      rows: [`0 ${TWO[0]}`, `1 ${TWO[1]}`],
      guesses: [
        'the inputs of a row are in its object inputs (--unwrap inputs)',
        'column "id" names the rows (--key id)',
      ],
    });
  });

  it.each(['jobs', 'data.items'])('has its inputs in an object, also in the list %s', async (path) => {
    const list = `[${TWO.map((row) => `{"inputs":${row}}`).join(', ')}]`;
    const text = path.split('.').reduceRight((inner, name) => `{"${name}": ${inner}}`, list);
    expect(await read('a.json', text, json)).toEqual({
      rows: TWO,
      guesses: [
        `the rows are in the list ${path} (--records ${path})`,
        'the inputs of a row are in its object inputs (--unwrap inputs)',
      ],
    });
  });

  it('is refused if one of its rows has no such object, and would run without inputs', async () => {
    const text = `{"inputs":${TWO[0]}}\n{"inputs":"{}"}\n`;
    const inputTypes = [input('prompt', 'string'), input('seed', 'seed')];
    await expect(read('a.jsonl', text, jsonl, { inputTypes })).rejects.toThrow('1 problem in 2 rows');
  });

  it('has inputs at paths, in templates too', async () => {
    const row = '{"custom_id":"x","body":{"model":"m","messages":[{"role":"user","content":"hi"}]}}\n';
    const inputTypes = [input('messages', 'json', { required: true }), input('model', 'string')];
    const map = { messages: 'body.messages', model: 'body.model' };
    expect((await read('a.jsonl', row, { ...jsonl, map }, { inputTypes })).rows).toEqual([
      'x {"messages":[{"content":"hi","role":"user"}],"model":"m"}',
    ]);
    const set = { prompt: 'say {body.messages.0.content}' };
    expect((await read('a.jsonl', row, { ...jsonl, set })).rows).toEqual(['x {"prompt":"say hi"}']);
  });

  it('has its inputs in the only object that has some', async () => {
    const row = '{"custom_id":"x","body":{"prompt":"a","seed":1}}\n';
    expect((await read('a.jsonl', row, jsonl)).guesses[0]).toBe(
      'the inputs of a row are in its object body (--unwrap body)',
    );
  });

  it('has its inputs in the object of a line of a batch of OpenAI, also with flags for others', async () => {
    const row = '{"custom_id":"x","method":"POST","body":{"input":"a fox in fresh snow"}}\n';
    const map = { prompt: 'input' };
    expect((await read('a.jsonl', row, { ...jsonl, map, set: { seed: '1' } })).rows).toEqual([
      'x {"prompt":"a fox in fresh snow","seed":1}',
    ]);
  });

  it('may be refused alone, as the refusal of the sheet proposes, which says which comma is too many', async () => {
    const rows = '{"prompt":"a"}\n{"prompt":"b",}\n';
    await expect(read('a.jsonl', rows, jsonl)).rejects.toMatchObject({
      hint: expect.stringMatching(
        /\nto run the other rows, and name these as refused: --invalid skip$/,
      ) as string,
      problems: [
        { code: 'E103', hint: 'remove the comma before it', correction: { add: [['--invalid', 'skip']] } },
      ],
    });
    const skipRows = [{ from: 2, to: 2 }];
    expect((await read('a.jsonl', rows, { ...jsonl, skipRows })).rows).toEqual(['{"prompt":"a"}']);
  });

  it.each([
    ["['a fox']", 'JSON has the quote " around names and texts'],
    ['[{“prompt”: "a"}]', 'JSON has the quote " around names and texts'],
    ['[{"prompt": "a",}]', 'remove the comma before it'],
  ])('of other quotes, or with a comma too many, is refused with what helps: %s', async (text, hint) => {
    await expect(read('a.json', text, { format: 'json' })).rejects.toMatchObject({ code: 'E103', hint });
  });

  it('stands beside comments, which are asked about', async () => {
    const { rows, guesses } = await read(
      'a.jsonl',
      '// two\n{"prompt":"a","seed":1}\n{"prompt":"b","seed":2}\n',
      jsonl,
    );
    expect(rows).toEqual(TWO);
    expect(guesses).toEqual(['? lines that begin with // are comments: 1 (--comment //)']);
  });

  it('of one object with inputs is one row', async () => {
    expect(await read('a.json', '{\n "prompt": "a",\n "seed": 1\n}\n', { format: 'json' })).toEqual({
      rows: TWO.slice(0, 1),
      guesses: ['the document is one row (--orient row)'],
    });
    const objects = read('a.json', '{\n"prompt":"a"}\n{"prompt":"b"}\n', { format: 'json' });
    await expect(objects).rejects.toMatchObject({
      hint: expect.stringContaining('several objects are JSONL'),
    });
    expect((await read('a.json', TWO.join('\n'), { format: 'json' })).rows).toEqual(TWO);
  });

  it('with a list of texts has them as the only required text', async () => {
    const { rows, guesses } = await read('a.json', '{"prompts":["a","b"]}', { format: 'json' });
    expect([rows, guesses]).toEqual([
      ['{"prompt":"a"}', '{"prompt":"b"}'],
      [
        'the rows are in the list prompts (--records prompts)',
        'each value of the list is one prompt (--columns prompt)',
      ],
    ]);
  });

  it.each(['a.jsonl', 'a.json', 'a.csv'])(
    'has names as a table has columns: inputs, other data, and one that names the rows: %s',
    async (file) => {
      const text = file.endsWith('csv')
        ? 'sku,Prompt,note,negative\nA1,a fox,x,blur\nA2,an owl,y,noise\n'
        : '{"sku":"A1","Prompt":"a fox","note":"x","negative":"blur"}\n{"sku":"A2","Prompt":"an owl","note":"y","negative":"noise"}\n';
      const whole = file === 'a.json' ? `[${text.trim().replace('\n', ',')}]` : text;
      const inputTypes = [input('prompt', 'string', { required: true }), input('negative_prompt', 'string')];
      const { rows, guesses } = await read(file, whole, {}, { inputTypes });
      expect(rows).toEqual([
        'A1 {"negative_prompt":"blur","prompt":"a fox"}',
        'A2 {"negative_prompt":"noise","prompt":"an owl"}',
      ]);
      expect(guesses).toEqual([
        'column "Prompt" is the input prompt (--map prompt=Prompt)',
        '? column "negative" is the input negative_prompt, not data (--map negative_prompt=negative)',
        'column "sku" names the rows (--key sku)',
      ]);
    },
  );

  it('of a program with many unknown names is refused once for all of them, and each is in the list', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `x${at}`);
    const row = JSON.stringify(Object.fromEntries([['prompt', 'a'], ...names.map((name) => [name, 1])]));
    const refused = (await read('rows', row, jsonl).catch((error: unknown) => error)) as SheetRefused;
    expect([refused.total, refused.problems.length]).toEqual([30, 1]);
    expect(refused.problems[0]?.message).toContain('30 columns are no inputs of the deployment: "x0"');
    expect(refused.problems[0]?.correction).toEqual({ add: names.map((name) => ['--drop', name]) });
  });
});

describe('an object where an input takes a text', () => {
  const VOICED = [input('text', 'string', { required: true }), input('voice', 'string')];
  const options = { format: 'jsonl' } as const;

  it('is asked for one of its parts, and the key stays', async () => {
    const text =
      '{"id":"a1","text":"Hello","voice":{"id":"v-1","name":"Ann","lang":"en"}}\n{"id":"a2","text":"Bye","voice":{"id":"v-2","name":"Bob","lang":"de"}}\n';
    expect(await read('a.jsonl', text, options, { inputTypes: VOICED })).toEqual({
      rows: ['a1 {"text":"Hello","voice":"Ann"}', 'a2 {"text":"Bye","voice":"Bob"}'],
      guesses: [
        '? "voice" is an object; the input voice gets voice.name; to send another part: --map voice=voice.lang, or --map voice=voice.id (--map voice=voice.name)',
        'column "id" names the rows (--key id)',
      ],
    });
    const map = { voice: 'voice.lang' };
    expect(await read('a.jsonl', text, { ...options, map }, { inputTypes: VOICED })).toEqual({
      rows: ['a1 {"text":"Hello","voice":"en"}', 'a2 {"text":"Bye","voice":"de"}'],
      guesses: ['column "id" names the rows (--key id)'],
    });
  });

  it('has the part that is called as a required input', async () => {
    const text = '{"line":{"take":3,"text":"Hello"},"voice":{"name":"Ann"}}\n';
    const { rows, guesses } = await read('a.jsonl', text, options, { inputTypes: VOICED });
    expect(rows).toEqual(['{"text":"Hello","voice":"Ann"}']);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      expect.stringContaining('gets line.text (--map'),
      expect.stringContaining('gets voice.name (--map'),
    ]);
  });

  it('gives the settings beside the text too, which is asked, unless the object is left out', async () => {
    const text =
      '{"id":1,"image":"https://a.example/b.png","meta":{"prompt":"a fox","cfgScale":6.5,"seed":5}}\n';
    const { rows, guesses } = await read('a.jsonl', text, options);
    expect(rows.map((row) => row.slice(2))).toEqual([
      expect.stringMatching(/^{"cfg":6.5,"image":.*,"prompt":"a fox","seed":5}$/),
    ]);
    expect(guesses).toContain(
      '? "meta" has settings beside it, which are sent too: meta.seed (seed), meta.cfgScale (cfg); to leave them out: --drop meta (--map seed=meta.seed --map cfg=meta.cfgScale)',
    );
    const without = await read('a.jsonl', text, { ...options, drop: ['meta'] });
    expect(without.rows[0]).toMatch(/^1 {"image":[^,]*,"prompt":"a fox"}$/);
    expect(without.guesses.join()).not.toContain('settings beside');
  });

  it('without a part that fits is asked to be left out, unless the input is required', async () => {
    const text = '{"text":"Hello","voice":{"pitch":2}}\n';
    expect(await read('a.jsonl', text, options, { inputTypes: VOICED })).toEqual({
      rows: ['{"text":"Hello"}'],
      guesses: [
        '? "voice" is an object without a part for the input voice (string), and is not sent (--drop voice)',
      ],
    });
    await expect(
      read('a.jsonl', '{"text":{"take":2}}\n', options, { inputTypes: VOICED }),
    ).rejects.toMatchObject({
      problems: [expect.objectContaining({ code: 'E202', hint: expect.stringContaining('--map the input') })],
    });
  });
});

describe('a list of objects', () => {
  const SHOT = [input('input_image', 'image', { required: true }), input('variants', 'int')];
  const rowOf = (id: number, ...files: readonly string[]): string => {
    const images = files.map((file, at) => ({ id: at, src: `https://a.example/${file}` }));
    return JSON.stringify({ id, title: `Apron ${id}`, images, variants: [{ id, available: true }] });
  };
  const text = `[${rowOf(7, 'a.png', 'b.png')},${rowOf(8, 'c.png')}]`;
  const questions = [
    '? "images" is a list; the input input_image gets the first: images.0.src (--map input_image=images.0.src)',
    '? "variants" is a list without a part for the input variants (int), and is not sent (--drop variants)',
  ];

  it.each([{}, { map: { input_image: 'images' } }])(
    'gives an input its first part that fits, and no number by its name alone',
    async (more) => {
      const { rows, guesses } = await read('a.json', text, { ...json, ...more }, { inputTypes: SHOT });
      expect(rows).toEqual([
        expect.stringContaining('"https://a.example/a.png"'),
        expect.stringContaining('"https://a.example/c.png"'),
      ]);
      expect(rows.join('')).not.toContain('variants');
      expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual(questions);
      const answers = { drop: ['variants'], map: { input_image: 'images.0.src' } };
      const again = await read('a.json', text, { ...json, ...answers }, { inputTypes: SHOT });
      expect([again.rows, again.guesses]).toEqual([rows, guesses.filter((guess) => !guess.startsWith('? '))]);
    },
  );

  it('beside numbers is refused with the way to name a part', async () => {
    const mixed = '[{"prompt":"a","seed":[3,4]},{"prompt":"b","seed":3}]';
    await expect(read('a.json', mixed, json)).rejects.toMatchObject({
      problems: [{ code: 'E202', hint: expect.stringContaining('--map the input to a part') }],
    });
  });

  it('is no source of a file that another column has', async () => {
    const file = '"input_image":"https://a.example/z.png","images"';
    const { rows, guesses } = await read(
      'a.json',
      text.replaceAll('"images"', file).replaceAll(/,"variants":\[[^\]]*\]/g, ''),
      json,
      { inputTypes: SHOT },
    );
    expect(rows.join('')).not.toContain('a.png');
    expect(guesses.join('')).not.toContain('images.0');
  });
});

it('a list of texts gives its first text, which is asked', async () => {
  const { rows, guesses } = await read(
    'a.json',
    '[{"prompt":["a fox","an owl"]},{"prompt":["a cat"]}]',
    json,
  );
  expect(rows).toEqual(['{"prompt":"a fox"}', '{"prompt":"a cat"}']);
  expect(guesses).toEqual([
    '? "prompt" is a list; the input prompt gets the first: prompt.0 (--map prompt=prompt.0)',
  ]);
});

describe('a row without the object that has the inputs of the others', () => {
  const text =
    '[{"id":1,"meta":{"prompt":"a fox"}},{"id":2,"meta":null},{"id":3,"meta":{"prompt":"an owl"}}]';

  it('is refused alone, and left out by a condition', async () => {
    await expect(read('a.json', text, json)).rejects.toMatchObject({
      problems: [{ code: 'E103', place: { row: 2 } }],
    });
    const { rows } = await read('a.json', text, { ...json, where: 'id != 2' });
    expect(rows).toEqual(['1 {"prompt":"a fox"}', '3 {"prompt":"an owl"}']);
  });
});
