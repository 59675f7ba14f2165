import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { InputType } from '../../src/service-client/contract/deployment.ts';
import { ERRORS_FILE, freshStore, input, lay, refusedBy, type Sheet, spot } from './laying.ts';

const portrait: readonly InputType[] = [
  input('prompt', 'text', { required: true }),
  input('seed', 'seed'),
  input('steps', 'int', { min: 1, max: 40 }),
  input('cfg', 'float'),
  input('hires', 'bool'),
  input('style', 'enum', { options: ['photo', 'oil'] }),
  input('nodes', 'json'),
];

const bad: readonly [string, Sheet, readonly string[]][] = [
  ['a gpu that is none', { text: 'prompt,gpu\na,A10G\nb,A100-8\n' }, ['E201 3:2']],
  ['too few and too many fields', { text: 'a,b\n1,2\n3\n4,5,6\n' }, ['E103 3:2', 'E103 4:3']],
  ['a word for a number', { text: 'prompt,steps\na,20\nb,twenty\n', inputTypes: portrait }, ['E202 3:2']],
  ['a number out of bounds', { text: 'prompt,steps\na,41\n', inputTypes: portrait }, ['E201 2:2']],
  ['a value that is no option', { text: 'prompt,style\na,foto\n', inputTypes: portrait }, ['E201 2:2']],
  ['a cross for a boolean', { text: 'prompt,hires\na,x\n', inputTypes: portrait }, ['E202 2:2']],
  [
    'a required cell that looks empty',
    { text: 'prompt,seed\n \u200B,1\n', inputTypes: portrait },
    ['E203 2:1'],
  ],
  ['no finite number', { text: 'prompt,cfg\na,1e999\n', inputTypes: portrait }, ['E202 2:2']],
  ['broken JSON in a cell', { text: 'prompt,nodes\na,{1}\n', inputTypes: portrait }, ['E202 2:2']],
  ['a required cell left empty', { text: 'prompt,seed\na,1\n,2\n', inputTypes: portrait }, ['E203 3:1']],
  ['a required input without a column', { text: 'seed\n1\n2\n', inputTypes: portrait }, ['E203 1:-']],
  ['a column that is no input', { text: 'prompt,sede\na,1\nb,2\n', inputTypes: portrait }, ['E204 1:2']],
  [
    'a value on a line that is not its row',
    { text: 'prompt,steps\r\n"a\r\nb",1\r\n\r\n"c\r\nd",x\r\n"e",y\r\n', inputTypes: portrait },
    ['E202 5:2', 'E202 7:2'],
  ],
  ['a key that repeats', { text: 'id\nx\ny\nx\n', options: { keyColumn: 'id' } }, ['E105 4:1']],
  [
    'several problems in one row, in the order of its cells',
    { text: 'steps,prompt,gpu,hires\nx,,Z,2\n', inputTypes: portrait },
    ['E202 2:1', 'E203 2:2', 'E201 2:3', 'E202 2:4'],
  ],
  [
    'lines that are no JSON, among lines that are',
    { text: '{"a":1}\r\n{"a":}\r\n[1]\r\n\r\n{"a":1,"a":2}\r\n"x"\r\n', options: { format: 'jsonl' } },
    ['E103 2:6', 'E103 3:1', 'E103 5:8', 'E103 6:1'],
  ],
  [
    'a wrong value in the middle of an array',
    {
      text: '[\n  {"prompt": "a"},\n  {\n    "prompt": "b",\n    "steps": "x"\n  }\n]',
      options: { format: 'json' },
      inputTypes: portrait,
    },
    ['E202 5:14'],
  ],
  [
    'a number where JSON needs a string',
    { text: '{"prompt":7}\n{"seed":1}\n', options: { format: 'jsonl' }, inputTypes: portrait },
    ['E202 1:11', 'E203 2:1'],
  ],
  [
    'a gpu that is no text',
    { text: '{"gpu":5}\n{"gpu":""}\n{"gpu":null}', options: { format: 'jsonl' } },
    ['E201 1:8'],
  ],
  [
    'JSON that cannot travel',
    {
      text: `{"a":1e999}\n{"a":"\\u0000"}\n{"a":${'['.repeat(64)}${']'.repeat(64)}}`,
      options: { format: 'jsonl' },
    },
    ['E202 1:6', 'E202 2:6', 'E103 3:70'],
  ],
];

describe('a sheet is refused for', () => {
  it.each(bad)('%s', async (_, sheet, spots) => {
    const refused = await refusedBy(lay(sheet));
    expect(refused.problems.map(spot)).toEqual(spots);
    expect((await refusedBy(lay({ ...sheet, chunk: 1 }))).problems.map(spot)).toEqual(spots);
  });

  it.each(bad)('%s, and none of its rows is in a page', async (_, sheet) => {
    const store = freshStore();
    await refusedBy(lay(sheet, store));
    expect(await store.list('rows')).toEqual([]);
    expect(await store.exists(ERRORS_FILE)).toBe(true);
  });
});

describe('a refusal', () => {
  it('offers a column of names as the key: without it, the rows would have other keys', async () => {
    const sheet: Sheet = { text: 'id,prompt,shop\na1,a fox,x\n', inputTypes: [input('prompt', 'string')] };
    const { problems } = await refusedBy(lay(sheet));
    expect(problems[0]?.correction).toEqual({
      add: [
        ['--key', 'id'],
        ['--drop', 'shop'],
      ],
    });
    expect(problems[0]?.hint).toContain('to name the rows by it, add: --key id');
  });

  it('shows the place, the line and a hint', async () => {
    const text = 'prompt,seed,steps,gpu\n"a red\nfox",7,20,A100-8\n';
    const refused = await refusedBy(lay({ text }));
    expect(refused).toMatchObject({ code: 'E200', exit: 5, total: 1, rows: 1, byCode: { E201: 1 } });
    expect(refused.problems[0]).toMatchObject({
      code: 'E201',
      message: 'gpu "A100-8" of column "gpu" is not a GPU of this service',
      hint: 'did you mean A100? allowed: T4 L4 A10G L40S A100 A100-80GB H100',
      place: { file: 'sheet.csv', line: 2, column: 4, row: 1, columnName: 'gpu', excerpt: '"a red' },
    });
  });

  it('names the nearest input, and the columns of the sheet if an input is missing', async () => {
    const text = 'promt,seed\na,1\n';
    const { problems } = await refusedBy(lay({ text, inputTypes: portrait }));
    expect(problems.map(({ code, message, hint }) => [code, message, hint])).toEqual([
      [
        'E203',
        'the deployment requires the input "prompt", but no column provides it',
        'columns of this sheet: promt, seed; add --map prompt=promt or --set prompt=<value>',
      ],
      [
        'E204',
        'column "promt" is not an input of the deployment',
        'did you mean prompt? inputs: prompt, seed, steps, cfg, hires, style, nodes; to ignore the column, add: --drop promt',
      ],
    ]);
  });

  it('shows a JSON value as the sheet has it, not as parsed', async () => {
    const text = '{"a":1e400}\n{"a": [ 1e999 , 2 ] , "b": 1}\n';
    const { problems } = await refusedBy(lay({ text, options: { format: 'jsonl' } }));
    expect(problems.map(({ message }) => message)).toEqual([
      '"1e400" in column "a" is not a number that can be sent',
      '"[ 1e999 , 2 ]" in column "a" is not a number that can be sent',
    ]);
    expect(problems[0]?.hint).toBe('numbers go from 5e-324 to 1.8e308');
  });

  it('names only the first of very many inputs, and no column of many', async () => {
    const names = Array.from({ length: 900 }, (_, n) => `input_${n}`);
    const inputTypes = [
      input('prompt', 'text', { required: true }),
      ...names.map((name) => input(name, 'int')),
    ];
    const { problems } = await refusedBy(lay({ text: 'promt,seed\na,1\n', inputTypes }));
    expect(problems.map(({ hint = '' }) => hint.length < 600)).toEqual([true, true, true]);
    expect(problems[1]?.hint).toContain('input_28, … and 871 more');
    const many = await refusedBy(
      lay({ text: `${names.join(',')}\n${names.map(() => 1).join(',')}\n`, inputTypes }),
    );
    expect(many.problems[0]?.hint).toBe('add --map prompt=<column> or --set prompt=<value>');
  });

  it('reports a row that leaves a required input empty', async () => {
    const { problems } = await refusedBy(lay({ text: 'prompt,seed\n,1\n', inputTypes: portrait }));
    expect(problems[0]?.message).toBe(
      'the deployment requires the input "prompt", but column "prompt" is empty in this row',
    );
  });

  it('reports a required input that --set leaves empty', async () => {
    const { problems } = await refusedBy(
      lay({ text: 'seed\n1\n', options: { set: { prompt: '' } }, inputTypes: portrait }),
    );
    expect(problems.map(spot)).toEqual(['E203 1:-']);
  });

  it('shows ten problems, counts all and lists all in a file', async () => {
    const store = freshStore();
    const rows = Array.from({ length: 3000 }, (_, n) => (n % 2 ? `${n},"x, ""${n}"""` : `${n}`));
    const refused = await refusedBy(
      lay({ text: `prompt,steps\n${rows.join('\n')}\n`, inputTypes: portrait }, store),
    );
    expect(refused).toMatchObject({ total: 3000, rows: 3000, byCode: { E103: 1500, E202: 1500 } });
    expect(refused.message).toBe('the sheet was refused: 3000 problems in 3000 rows; nothing was sent');
    expect(refused.hint).toBe(`every problem is listed in ${store.location}/${ERRORS_FILE}`);
    expect(refused.problems).toHaveLength(10);
    expect(refused.problems[9]?.place).toMatchObject({ line: 11, row: 10, excerpt: '9,"x, ""9"""' });
    const lines = (await store.read(ERRORS_FILE))?.trimEnd().split('\n') ?? [];
    expect(lines).toHaveLength(3001);
    expect(lines[0]).toBe('code,file,line,column,row,column_name,message,hint');
    expect(lines[1]).toBe(
      'E103,sheet.csv,2,2,1,,"this row has 1 field, and the header has 2",give every row as many fields as the header; an empty cell still needs its delimiter',
    );
    expect(lines[3000]).toBe(
      String.raw`E202,sheet.csv,3001,2,3000,steps,"""x, \""2999\"""" in column ""steps"" is not an integer","use digits only: no decimal point, no exponent, no leading zero"`,
    );
  });

  it('keeps the pages that were complete before the first problem', async () => {
    const store = freshStore();
    const rows = Array.from({ length: 1200 }, (_, n) => `${n},${n === 700 ? 'Z' : ''}`);
    await refusedBy(lay({ text: `a,gpu\n${rows.join('\n')}\n` }, store));
    expect(readdirSync(`${store.location}/rows`)).toEqual(['00001.jsonl']);
  });

  it('writes no cell as a formula into that file', async () => {
    const store = freshStore();
    await refusedBy(lay({ text: '=cmd(),prompt\n1,x\n', inputTypes: portrait }, store));
    expect(await store.read(ERRORS_FILE)).toContain(`,'=cmd(),`);
  });

  it('prints no control character of a sheet to a terminal', async () => {
    const text = '{"a":1}\n{"gpu":"\\u001b[31m"}\n';
    const { problems } = await refusedBy(lay({ text, options: { format: 'jsonl' } }));
    expect(problems[0]?.message).toBe(
      String.raw`gpu "\u001b[31m" of column "gpu" is not a GPU of this service`,
    );
  });

  it('shortens long values and long lines', async () => {
    const text = `prompt,steps\na,${'9'.repeat(5000)}x\n`;
    const { problems } = await refusedBy(lay({ text, inputTypes: portrait }));
    expect(problems[0]?.message.length).toBeLessThan(130);
    expect(problems[0]?.place?.excerpt?.length).toBe(2001);
  });
});
