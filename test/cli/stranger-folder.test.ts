// A clone from a stranger, as git checks it out: every file in it belongs to the user who works there.

import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/errors/outside-text.ts';
import { serveForTest } from '../stage/serve.ts';
import { freshStage } from '../stage/shared-stage.ts';

const KEY = 'key-of-the-user-0123456789';

/** Answers nothing, and keeps what it was sent. */
const receiver = () => serveForTest((_, response) => void response.writeHead(404).end());
const keysIn = (requests: readonly IncomingMessage[]): readonly unknown[] =>
  requests.map(({ headers }) => headers.authorization ?? headers['x-api-key']);

/** The commands that a refusal prints. */
const printed = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/: (runsheet [^\n;]+)/g)].map(([, command = '']) => command);

describe('a runsheet.toml of a stranger', () => {
  const stage = freshStage(async (at) => {
    at.environment = { XDG_CONFIG_HOME: at.path('config'), RUNSHEET_API_KEY: KEY };
    at.write('sheet.csv', 'prompt\na fox\n');
  });
  const COMMANDS = [
    ['deployments'],
    ['doctor'],
    ['plan', 'sheet.csv', '-d', 'portraits'],
    ['run', 'sheet.csv', '-d', 'portraits'],
    ['submit', 'sheet.csv', '-d', 'portraits'],
    ['list'],
  ];

  it.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
    'with its own address gets no key of the user from %s',
    async (_, words) => {
      const { url, asked: requests } = await receiver();
      stage.write('runsheet.toml', `api_url = "${url}/api"\n`);
      stage.write('config/runsheet/config.toml', 'api_url = "https://ours.example/api"\n');
      expect(await stage.runHere(words)).toMatchObject({ code: 2, stderr: expect.stringContaining('E602') });
      stage.write('runsheet.toml', `[service.production]\napi_url = "${url}/api"\napi_key_file = "key"\n`);
      expect(await stage.runHere(words)).toMatchObject({ code: 2, stderr: expect.stringContaining('E615') });
      expect(requests).toEqual([]);
    },
  );

  it('that is trusted gets its own key, and never one of the user', async () => {
    const { url, asked: requests } = await receiver();
    stage.write('runsheet.toml', `api_url = "${url}/api"\napi_key_file = "key"\n`);
    stage.write('key', 'key-of-the-folder-0123456789');
    const { code, stderr } = await stage.run(['deployments']);
    const [command = ''] = printed(stderr);
    expect([code, command]).toEqual([2, `runsheet trust ${shellWord(stage.path('runsheet.toml'))}`]);
    expect(await stage.run(command.split(' ').slice(1))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`api_url = "${url}/api"`),
    });
    await stage.run(['deployments']);
    expect(new Set(keysIn(requests))).toEqual(new Set(['Bearer key-of-the-folder-0123456789']));
    expect((await stage.run(['trust', '--list'])).stdout).toContain(stage.path('runsheet.toml'));
    expect((await stage.run(['trust', '--forget'])).code).toBe(0);
    expect(await stage.run(['deployments'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('E615'),
    });
  });

  it.each([
    'home = "elsewhere"',
    'webhook_listen = "0.0.0.0:8088"',
    'metrics = "0.0.0.0:9464"',
    'notify_exec = "/bin/sh"',
    'payload_plain = "read"',
    'sheets = "/"',
  ])('that would set %s is refused, before and after it was trusted', async (line) => {
    stage.write('runsheet.toml', `${line}\n`);
    for (const command of [['list'], ['trust'], ['list']])
      expect(await stage.runHere(command)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('of this machine'),
      });
    expect(existsSync(stage.path('elsewhere'))).toBe(false);
  });
});

describe('a .runsheet of a stranger', () => {
  const stage = freshStage(async (at) => at.write('sheet.csv', 'prompt\na fox\n'));
  const COMMANDS = [
    ['run', 'sheet.csv', '-d', 'portraits', '--local'],
    ['plan', 'sheet.csv', '-d', 'portraits', '--local'],
    ['submit', 'sheet.csv', '-d', 'portraits', '--local'],
    ['deployments', '--local'],
    ['schedule', 'list'],
    ['pool', 'list'],
    ['dev'],
  ];

  it.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
    'starts no program and gets no key: %s',
    async (_, words) => {
      const { url, asked: requests } = await receiver();
      const program = stage.write('notify.sh', `#!/bin/sh\ntouch ${stage.path('started')}\n`);
      chmodSync(program, 0o755);
      mkdirSync(stage.path('.runsheet/logs'), { recursive: true, mode: 0o700 });
      stage.write('.runsheet/logs/stack.log', '');
      stage.write('.runsheet/programs', `${program}\n/bin/sh\n`);
      stage.write('.runsheet/outs', '/\n');
      stage.write('.runsheet/instance', 'a'.repeat(64));
      stage.write(
        '.runsheet/local-service.json',
        JSON.stringify({ base: `${url}/api`, token: 'x'.repeat(32) }),
      );
      const { code, stderr } = await stage.runHere(words);
      expect([code, stderr]).toEqual([2, expect.stringContaining('E606')]);
      expect(printed(stderr)).toEqual([`runsheet trust ${shellWord(stage.path('.runsheet'))}`]);
      expect(requests).toEqual([]);
      expect(readFileSync(stage.path('.runsheet/logs/stack.log'), 'utf8')).toBe('');
    },
  );

  it('shows the programs that it names to who trusts it', async () => {
    mkdirSync(stage.path('.runsheet'), { mode: 0o700 });
    stage.write('.runsheet/programs', '/home/them/tell.sh\n');
    expect((await stage.runHere(['trust', '.runsheet'])).stdout).toContain('start /home/them/tell.sh');
  });

  it('does not keep the batches from being read', async () => {
    mkdirSync(stage.path('.runsheet'), { mode: 0o700 });
    expect(await stage.run(['list'])).toMatchObject({ code: 0 });
  });
});
