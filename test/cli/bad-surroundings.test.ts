// Files, settings and services that a command cannot use: it ends with its code, says which one and what helps, and buys
// nothing. What is wrong on the command line itself stands in bad-input.test.ts.

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocket, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { missingFrom, PASSWORD, plan, type Bad } from './refused.ts';

const DEPLOYMENT = { id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d', name: 'portraits', workflow_id: 'w' };
const NOT_A_RUN = { detail: [{ loc: ['path', 'run_id'], msg: 'not a uuid', type: 'uuid_parsing' }] };

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

/** What the service says of itself, and what it comes to. */
const services: readonly (readonly [
  name: string,
  path: string,
  body: unknown,
  exit: number,
  code: string,
  said: RegExp,
])[] = [
  ['no JSON', '/deployments', '<h1>Welcome</h1>', 6, 'E310', /GET \/deployments .*no JSON: <h1>/],
  ['another shape', '/deployments', { deployments: [] }, 6, 'E310', /GET \/deployments /],
  [
    'a concurrency limit of 0',
    '/deployments',
    [{ ...DEPLOYMENT, concurrency_limit: 0 }],
    5,
    'E311',
    /concurrency limit 0[^]*--concurrency/,
  ],
  [
    'a concurrency limit of -5',
    '/deployments',
    [{ ...DEPLOYMENT, concurrency_limit: -5 }],
    5,
    'E311',
    /concurrency limit -5[^]*--concurrency/,
  ],
  [
    'a run time-out of 0',
    '/deployments',
    [{ ...DEPLOYMENT, run_timeout: 0 }],
    5,
    'E311',
    /run time-out 0[^]*--run-timeout/,
  ],
  [
    'a negative price',
    '/platform/gpu-pricing',
    { A10G: -1 },
    6,
    'E310',
    /GET \/platform\/gpu-pricing .*A10G: /,
  ],
  [
    'a profile of words',
    '/platform/profile',
    { poll_interval_ms: 'often' },
    6,
    'E310',
    /GET \/platform\/profile /,
  ],
];

/** A run service of which nothing but these answers is there. */
async function serviceThat(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/api|\?.*$/g, '');
    const body = path.startsWith('/run/') ? NOT_A_RUN : answers[path];
    response.statusCode = path.startsWith('/run/') ? 422 : body === undefined ? 404 : 200;
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? { detail: 'Not Found' }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
}

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

  describe('refuses settings that cannot be meant:', () => {
    it.each(settings.map((bad) => ({ name: bad[0], bad })))('$name', async ({ bad }) => {
      expect(await missingFrom(stage, bad)).toEqual([]);
    });

    it('a name in runsheet.toml that is none', async () => {
      const path = stage.write('runsheet.toml', 'api_ulr = "http://127.0.0.1:1/api"\n');
      onTestFinished(() => rmSync(path));
      const said = /"api_ulr"[^]*did you mean api_url\?/;
      expect(await missingFrom(stage, ['', ['list'], 2, 'E602', said])).toEqual([]);
    });
  });

  describe('refuses a service that answers with', () => {
    it.each(services)('%s', async (_, path, body, exit, code, said) => {
      const base = await serviceThat({ '/deployments': [DEPLOYMENT], [path]: body });
      const ended = await stage.run(plan('--retries', '0'), { RUNSHEET_API_URL: base });
      expect(ended.stderr).toContain(`error[${code}]`);
      expect(ended.stderr).toMatch(said);
      expect([ended.stdout, ended.code]).toEqual(['', exit]);
    });

    it('a senseless limit, and takes --concurrency for it', async () => {
      const base = await serviceThat({ '/deployments': [{ ...DEPLOYMENT, concurrency_limit: -5 }] });
      const ended = await stage.run(plan('-c', '3', '-o', 'json'), { RUNSHEET_API_URL: base });
      expect([ended.code, JSON.parse(ended.stdout)]).toEqual([0, expect.objectContaining({ cap: 3 })]);
    });

    it('times that are shorter than clocks differ', async () => {
      const base = await serviceThat({ '/deployments': [DEPLOYMENT] });
      const words = plan('--run-timeout', '5s');
      const said = /--run-timeout of 5s[^]*at least 60s/;
      const missing = await missingFrom(stage, ['', words, 2, 'E602', said, { RUNSHEET_API_URL: base }]);
      expect(missing).toEqual([]);
    });
  });

  it('has bought nothing by any of it', async () => {
    expect(await stage.truth()).toEqual([]);
  });
});
