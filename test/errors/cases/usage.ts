// Errors of flags, arguments, files and settings.

import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Console } from '../../console/console.ts';
import type { Provocation } from '../provocation.ts';

const sheet = (console: Console): void => void console.write('my sheet.csv', 'prompt,seed\na,1\n');

export const USAGE: readonly Provocation<Console>[] = [
  {
    code: 'E612',
    name: 'the keys of S3 are not set',
    args: ['list', '--out', 's3://nightly/hens'],
    env: { AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true' },
    says: /s3:\/\/nightly\/hens cannot be used: .*\n.*set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/,
  },
  {
    code: 'E602',
    name: 'no deployment is given',
    arrange: sheet,
    args: ['plan', 'my sheet.csv'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'a value of a flag is misspelt',
    args: ['list', '-o', 'jsn'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'a flag has no value',
    args: ['plan', 'x.csv', '-d'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'a command of a group lacks a flag',
    args: ['pool', 'set', 'gpus'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'the extension is part of --output-name',
    arrange: sheet,
    args: ['plan', 'my sheet.csv', '-d', 'portraits', '--output-name', '{seed} of $me.png'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'two columns provide one input',
    arrange: sheet,
    args: ['plan', 'my sheet.csv', '-d', 'portraits', '--set', 'seed=3'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'the name of a sheet has a blank and no quotes',
    arrange: sheet,
    args: ['plan', 'my', 'sheet.csv', '-d', 'portraits'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'there is one argument too many',
    args: ['status', 'a', 'b'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'a setting is misspelt',
    args: ['list'],
    env: { RUNSHEET_API_ULR: 'x' },
    says: /did you mean RUNSHEET_API_URL\?/,
  },
  {
    code: 'E605',
    name: 'a command is misspelt',
    args: ['lst'],
    leads: [0, 0],
  },
  {
    code: 'E605',
    name: 'a flag is misspelt, behind a value with quotes',
    arrange: sheet,
    args: ['plan', 'my sheet.csv', '-d', 'portraits', '--set', "style='oil", '--ste', 'seed='],
    leads: [0, 'E602'],
  },
  {
    code: 'E605',
    name: 'a flag is misspelt, beside a value with a line break, quotes and a dollar sign',
    arrange: (console) => void console.write('seeds.csv', 'seed\n1\n'),
    args: [
      'plan',
      'seeds.csv',
      '-d',
      'portraits',
      '--set',
      'prompt=it\'s "$HOME"\n\t\\n `date`\u200b',
      '--delimter',
      ',',
    ],
    leads: [0, /"prompt":"it's \\"\$HOME\\"\\n\\t\\\\n `date`/],
  },
  {
    code: 'E605',
    name: 'a flag stands before the command',
    args: ['--bogus', 'list'],
    leads: [0],
  },
  {
    code: 'E606',
    name: '--out is a file',
    arrange: sheet,
    args: ['list', '--out', 'my sheet.csv'],
    says: /my sheet\.csv cannot be used: a part of this path is a file[^]*check that it exists/,
  },
  {
    code: 'E606',
    name: 'others may write to the state folder, whose name has a blank',
    arrange: (console) => {
      sheet(console);
      mkdirSync(join(console.folder, 'my state'));
      chmodSync(join(console.folder, 'my state'), 0o777);
    },
    args: ['dev'],
    env: { RUNSHEET_HOME: 'my state' },
    leads: [0],
  },
  {
    code: 'E606',
    name: 'a state folder came with a clone whose name has a blank',
    arrange: (console) => {
      mkdirSync(join(console.folder, 'my clone', '.runsheet'), { recursive: true, mode: 0o700 });
      process.chdir(join(console.folder, 'my clone'));
    },
    args: ['schedule', 'list'],
    env: { RUNSHEET_HOME: '' },
    leads: [0],
    undo: ({ folder }) => process.chdir(folder),
  },
  {
    code: 'E615',
    name: 'the settings of a folder are not trusted',
    arrange: (console) => void console.write('runsheet.toml', 'task_queue = "eu"\n'),
    args: ['list'],
    leads: [0],
    mend: () => undefined,
    undo: ({ folder }) => rmSync(join(folder, 'runsheet.toml')),
  },
  {
    code: 'E602',
    name: 'what is not trusted is forgotten',
    args: ['trust', '--forget', 'runsheet.toml'],
    leads: [0],
  },
  {
    code: 'E610',
    name: 'a key is an argument',
    args: ['service', '--token', 'k'],
    says: /use --token-file <file>; or set RUNSHEET_SERVICE_TOKEN/,
  },
  {
    code: 'E611',
    name: 'the file of keys is empty',
    arrange: ({ folder }) => writeFileSync(join(folder, 'keys'), '\n'),
    args: ['service', '--token-file', 'keys', '--port', '0'],
    says: /write one key per line: <key>, or <owner>:<key>/,
  },
  {
    code: 'E611',
    name: 'two people have the same key',
    arrange: ({ folder }) => writeFileSync(join(folder, 'keys'), 'ann:one\nben:two\ncleo:one\n'),
    args: ['service', '--token-file', 'keys', '--port', '0'],
    says: /keys is refused: ann and cleo have the same key.*give each person a key of their own/s,
  },
];
