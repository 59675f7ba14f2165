// Files, batches and settings that a command cannot use: it ends with its code, says which one and what helps, and buys
// nothing. What is wrong on the command line itself stands in bad-input.test.ts.

import { SHEET } from '../store/sheet-facts.ts';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer as createSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { Stage } from '../stage/stage.ts';
import { missingFrom, PASSWORD, plan, type Bad } from './refused.ts';

const KEY_FILE = 'RUNSHEET_API_KEY_FILE';
/** No key but that of the file. */
const keyFile = (path: string) => ({ RUNSHEET_API_KEY: '', [KEY_FILE]: path });

const files: readonly Bad[] = [
  [
    'a folder as sheet',
    ['plan', 'folder.csv', '-d', 'portraits'],
    5,
    'E106',
    /folder\.csv cannot be read as a sheet: it is a folder[^]*inside\.csv/,
  ],
  ['a socket as sheet', ['plan', 'socket.csv', '-d', 'portraits'], 5, 'E106', /it is a socket/],
  ['a device as sheet', ['plan', '/dev/zero', '-d', 'portraits'], 5, 'E106', /it is a device/],
  [
    '--out in a file',
    plan('--out', 'ok.csv/batches'),
    2,
    'E606',
    /ok\.csv\/batches cannot be used: a part of this path is a file/,
  ],
  ['--out that is a file', plan('--out', 'ok.csv'), 2, 'E606', /ok\.csv cannot be used: it is a file/],
  ['--out that cannot be made', plan('--out', '/proc/batches'), 2, 'E606', /\/proc\/batches cannot be used/],
  ['--out of another command that is a file', ['list', '--out', 'ok.csv'], 2, 'E606', /ok\.csv/],
  [
    'a key file that is not there',
    plan(),
    4,
    'E309',
    /RUNSHEET_API_KEY_FILE \(none\).* no such file/,
    keyFile('none'),
  ],
  ['a key file that is a folder', plan(), 4, 'E309', /it is a folder/, keyFile('folder.csv')],
  ['a key file that is empty', plan(), 4, 'E309', /it is empty/, keyFile('empty')],
  [
    'a key with a line break',
    plan(),
    4,
    'E309',
    /RUNSHEET_API_KEY .*line break/,
    { RUNSHEET_API_KEY: 'sk-0123\n4567' },
  ],
  ['a key of blanks', plan(), 4, 'E309', /it is empty/, { RUNSHEET_API_KEY: '   ' }],
  [
    'a deployments file that is a folder',
    ['service', '--deployments', 'folder.csv'],
    2,
    'E606',
    /folder\.csv|it is a folder/,
  ],
];

const settings: readonly Bad[] = [
  [
    'a password in the API address',
    plan(),
    2,
    'E602',
    /RUNSHEET_API_URL[^]*RUNSHEET_API_KEY/,
    { RUNSHEET_API_URL: `http://u:${PASSWORD}@127.0.0.1:1/api` },
  ],
  [
    'a password in the webhook address',
    plan(),
    2,
    'E602',
    /RUNSHEET_WEBHOOK_URL[^]*RUNSHEET_WEBHOOK_SECRET/,
    { RUNSHEET_WEBHOOK_URL: `http://u:${PASSWORD}@127.0.0.1:1` },
  ],
  [
    'a query in the API address',
    plan(),
    2,
    'E602',
    /RUNSHEET_API_URL/,
    { RUNSHEET_API_URL: 'http://127.0.0.1:1/api?x=1' },
  ],
  [
    'a setting that is misspelt',
    plan(),
    2,
    'E602',
    /RUNSHEET_API_ULR[^]*did you mean RUNSHEET_API_URL\?/,
    { RUNSHEET_API_ULR: 'x' },
  ],
  [
    'a port that is none',
    ['doctor'],
    2,
    'E602',
    /RUNSHEET_WEBHOOK_LISTEN is ":99999"/,
    { RUNSHEET_WEBHOOK_LISTEN: ':99999' },
  ],
];

/** A batch that was made, of no rows. */
const BATCH: BatchFile = {
  format: 2,
  batch: 'b',
  mark: '0123456789abcdef',
  content: '0',
  createdAt: '2026-01-01T00:00:00.000Z',
  sheet: { ...SHEET, rows: 0, pages: 0 },
  deployment: { id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' },
  service: {
    base: 'local',
    api: 'v2',
    rehearsal: true,
    timing: {
      postDeadlineMs: 1,
      listGapMs: 1,
      settleMs: 1,
      settleWithoutControlMs: 1,
      pollIntervalMs: 1,
    },
    prices: {},
  },
  concurrency: 1,
  retries: 0,
  unconfirmed: { rule: 'ask', afterMs: 0 },
  deadlines: {},
  webhooks: true,
  seed: 0,
};

const batches: readonly Bad[] = [
  [
    'a column that is none',
    ['rows', 'b', '--fields', 'row,outcom'],
    2,
    'E602',
    /no column "outcom"[^]*did you mean outcome\?/,
  ],
  ['a row that it does not have', ['show', 'b', '1'], 2, 'E505', /batch b has no row 1/],
  [
    'a batch.json that breaks off',
    ['rows', 'broken'],
    5,
    'E504',
    /broken\/batch\.json is not a batch of this version/,
  ],
  ...[['rows'], ['status'], ['watch'], ['resume'], ['cancel'], ['verify']].map((args): Bad => [
    `an earlier version's batch, by ${args.join(' ')}`,
    [...args, 'old'],
    5,
    'E514',
    /old was made by an earlier version/,
  ]),
  [
    "an earlier version's batch as a name",
    ['run', 'ok.csv', '-d', 'portraits', '--name', 'old'],
    5,
    'E514',
    /old was made by an earlier version[^]*new batch/,
  ],
];

describe('the command line', () => {
  const stage = new Stage();
  const socket = createSocket();
  beforeAll(async () => {
    await stage.service();
    stage.write('ok.csv', 'prompt,seed\na fox,1\n');
    stage.write('empty', '\n');
    stage.write('folder.csv/inside.csv', 'prompt\na\n');
    socket.listen(stage.path('socket.csv'));
    await once(socket, 'listening');
  });
  afterAll(() => {
    socket.close();
    return stage.close();
  });

  describe('refuses files that it cannot use:', () => {
    it.each(files.map((bad) => ({ name: bad[0], bad })))('$name', async ({ bad }) => {
      expect(await missingFrom(stage, bad)).toEqual([]);
    });
  });

  describe('refuses for a batch:', () => {
    it.each(batches.map((bad) => ({ name: bad[0], bad })))('$name', async ({ bad }) => {
      stage.write('made/b/batch.json', JSON.stringify(BATCH));
      stage.write('made/broken/batch.json', '{"format":');
      stage.write('made/old/batch.json', JSON.stringify({ ...BATCH, format: 1 }));
      const [name, args, ...rest] = bad;
      expect(await missingFrom(stage, [name, [...args, '--out', 'made'], ...rest])).toEqual([]);
    });

    it('nothing if the columns are its own', async () => {
      stage.write('made/b/batch.json', JSON.stringify(BATCH));
      const ended = await stage.run([
        'rows',
        'b',
        '--fields',
        'row,prompt,cost_usd',
        '-o',
        'csv',
        '--out',
        'made',
      ]);
      expect([ended.code, ended.stdout]).toEqual([0, 'row,prompt,cost_usd\n']);
    });
  });

  describe('refuses invalid settings:', () => {
    it.each(settings.map((bad) => ({ name: bad[0], bad })))('$name', async ({ bad }) => {
      expect(await missingFrom(stage, bad)).toEqual([]);
    });

    it('an unknown name in runsheet.toml', async () => {
      const path = stage.write('runsheet.toml', 'api_ulr = "http://127.0.0.1:1/api"\n');
      onTestFinished(() => rmSync(path));
      const said = /"api_ulr"[^]*did you mean api_url\?/;
      expect(await missingFrom(stage, ['', ['list'], 2, 'E602', said])).toEqual([]);
    });
  });

  it('has started no run in any of these cases', async () => {
    expect(await stage.truth()).toEqual([]);
  });
});
