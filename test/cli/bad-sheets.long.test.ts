import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';

/** Name, file, bytes and flags, then the expected code, place and hint. */
type Bad = readonly [
  name: string,
  file: string,
  text: string | Uint8Array | undefined,
  flags: readonly string[],
  code: string,
  place: string,
  hint: RegExp,
];

const bad: readonly Bad[] = [
  ['no such file', 'promts.csv', undefined, [], 'E101', '', /there is no sheet at .*promts\.csv/],
  ['an empty file', 'empty.csv', '', [], 'E104', 'empty.csv', /no rows|empty/],
  ['a header without rows', 'header.csv', 'prompt,seed\n', [], 'E104', 'header.csv', /a header and no rows/],
  [
    'a quote that is never closed',
    'quote.csv',
    'prompt,seed\na,1\n"b,2\nc,3\n',
    [],
    'E103',
    'quote.csv:3:1',
    /quote/,
  ],
  [
    'a row with a field too many',
    'fields.csv',
    'prompt,seed\na,1\nb,2,3\n',
    [],
    'E103',
    'fields.csv:3',
    /3 fields/,
  ],
  [
    'letters of another encoding',
    'latin.csv',
    Buffer.from('prompt,seed\nf\xe9e,1\n', 'latin1'),
    [],
    'E111',
    'latin.csv',
    /the letters are right: fée\n.*--encoding windows-1252/,
  ],
  [
    'bytes that are no text',
    'bytes.csv',
    Buffer.from('prompt,seed\nf\x81e,1\n', 'latin1'),
    [],
    'E102',
    'bytes.csv',
    /neither UTF-8 nor windows-1252: see byte 13/,
  ],
  ['a repeated header', 'twice.csv', 'prompt,seed,prompt\na,1,b\n', [], 'E104', 'twice.csv:1', /prompt/],
  [
    'a repeated key',
    'keys.csv',
    'prompt,seed\na,1\nb,1\n',
    ['--key', 'seed'],
    'E105',
    'keys.csv:3:2',
    /row 2 has the key "1" that row 1 has/,
  ],
  [
    'a GPU that is none',
    'gpu.csv',
    'prompt,gpu\na,A100-8\n',
    [],
    'E201',
    'gpu.csv:2:2',
    /did you mean A100\?/,
  ],
  [
    'a word for a number',
    'word.csv',
    'prompt,seed\na,1\nb,many\n',
    [],
    'E202',
    'word.csv:3:2',
    /"many" in column "seed" is not/,
  ],
  [
    'a required input without a column',
    'input.csv',
    'promt,seed\na,1\n',
    ['--drop', 'promt'],
    'E203',
    'input.csv:1',
    /--map prompt=promt/,
  ],
  [
    'a required input left empty',
    'hole.csv',
    'prompt,seed\na,1\n,2\n',
    [],
    'E203',
    'hole.csv:3:1',
    /empty in this row/,
  ],
  [
    'a column that is nearly an input',
    'column.csv',
    'prompt,sed\na,1\n',
    [],
    'E111',
    'column.csv',
    /column "sed" is the input seed, not data\n.*--map seed=sed/,
  ],
  [
    'a broken line of JSON',
    'line.jsonl',
    '{"prompt":"a"}\n{"prompt":"b",}\n',
    [],
    'E103',
    'line.jsonl:2',
    /JSON/,
  ],
  [
    'a JSON array with a row that is none',
    'array.json',
    '[{"prompt":"a"}, 7]',
    [],
    'E103',
    'array.json:1',
    /object/,
  ],
  [
    'rows that are too large together',
    'large.csv',
    `prompt,seed\n${Array.from({ length: 12 }, (_, at) => `${'x'.repeat(3_000_000)},${at}\n`).join('')}`,
    [],
    'E108',
    'large.csv:13',
    /rows 1 to 12 have more than 32 MiB[^]*by URL/,
  ],
  [
    'a cell of 50 MB in quotes',
    'cell.csv',
    `prompt,seed\na,1\n"${'x'.repeat(50_000_000)}",2\n`,
    [],
    'E103',
    'cell.csv:3',
    /longer than 4 MiB[^]*by URL/,
  ],
  [
    'a row of 300,000 names',
    'names.jsonl',
    `{${Array.from({ length: 300_000 }, (_, n) => `"n${n}":1`).join(',')}}\n`,
    [],
    'E104',
    'names.jsonl:1:8892',
    /more than 1000 different names/,
  ],
  [
    'a number that no double holds',
    'number.jsonl',
    '{"prompt":"a","steps":1e400}\n',
    [],
    'E202',
    'number.jsonl:1:23',
    /"1e400" in column "steps"/,
  ],
  [
    'semicolons and quotes',
    'semicolons.tsv',
    '"prompt";"seed"\n"a; b";1\n',
    [],
    'E102',
    'semicolons.tsv:1',
    /--delimiter ';'/,
  ],
  [
    'another encoding',
    'utf-32.csv',
    Buffer.from(Uint32Array.from('prompt,seed\na,1\n', (one) => one.codePointAt(0) ?? 0).buffer),
    [],
    'E102',
    'utf-32.csv',
    /UTF-32, not UTF-8/,
  ],
];

describe('a bad sheet', () => {
  const stage = new Stage();
  beforeAll(() => stage.service());
  afterAll(() => stage.close());

  it.each(bad)(
    '%s: the error has its code and its place, and the exit code is 5',
    async (_, file, text, flags, code, place, hint) => {
      if (text !== undefined) stage.write(file, text);
      const ended = await stage.run(['run', file, '-d', 'portraits', ...flags]);
      expect(ended.stderr).toContain(`error[${code}]`);
      expect(ended.stderr).toContain(place);
      expect(ended.stderr).toMatch(hint);
      expect(ended.stderr).not.toMatch(/\n\s+at /);
      expect(ended.stdout).toBe('');
      expect(ended.code).toBe(5);
    },
  );

  it('is reported with the same error as JSON', async () => {
    stage.write('word.csv', 'prompt,seed\na,1\nb,many\n');
    const ended = await stage.run(['run', 'word.csv', '-d', 'portraits', '-o', 'json']);
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'E200' } });
    expect(ended.code).toBe(5);
  });

  it('shows ten problems, and lists all of them in a file beside the batches', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => `portrait,${at % 2 === 0 ? at : `x${at}`}`);
    stage.write('many.csv', `prompt,seed\n${rows.join('\n')}\n`);
    const ended = await stage.run(['run', 'many.csv', '-d', 'portraits']);
    expect(ended.stderr.match(/error\[E202\]/g)).toHaveLength(10);
    const [, file = ''] = /listed in (\S+)/.exec(ended.stderr) ?? [];
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(21);
  });

  it('starts no run and leaves no batch', async () => {
    expect(await stage.truth()).toEqual([]);
    const left = existsSync(stage.path('batches')) ? readdirSync(stage.path('batches')) : [];
    expect(
      left.filter((name) => !name.startsWith('.') && existsSync(stage.path('batches', name, 'batch.json'))),
    ).toEqual([]);
  });
});
