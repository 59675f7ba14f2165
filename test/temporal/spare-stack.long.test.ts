// The processes of the embedded servers that a command prepares while it loads its own code.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { ownEnvironment } from '../stage/command.ts';
import { familyOf, isAlive, strays } from '../stage/processes.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { until } from '../stage/stage.ts';
import { listen } from '../stage/free-port.ts';

const ROWS = 'number,prompt,seed\n1,a fox,7\n';

const wordsOf = (pid: number): readonly string[] =>
  existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') : [];

describe('where servers have run before, a command that needs the local service', () => {
  const stage = freshStage(async (at) => {
    at.write('.runsheet/logs/stack.log', '');
    await at.runHere(['trust', '.runsheet']);
  });

  /** Waits until a command has prepared the processes of the servers and of their worker, and waits for its sheet. */
  async function waiting() {
    const command = spawn(process.execPath, [programFile(), ...'run - -d portraits --local'.split(' ')], {
      cwd: stage.folder,
      env: { ...ownEnvironment(), XDG_STATE_HOME: stage.path('state') },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const prepared = (name: string): number | undefined =>
      familyOf(command.pid).find((pid) => wordsOf(pid).includes(name));
    await until(() => prepared('worker') !== undefined, 'it has prepared them');
    return { command, servers: prepared('embedded') ?? Number.NaN, worker: prepared('worker') ?? Number.NaN };
  }

  it('runs its sheet with the servers that it has prepared', async () => {
    const { command, servers, worker } = await waiting();
    const record = () => readRecord(stage.path('.runsheet'));
    command.stdin.end(ROWS);
    await until(() => record()?.worker !== undefined, 'the servers are up');
    expect([record()?.pid, record()?.worker?.pid]).toEqual([servers, worker]);
    await until(() => command.exitCode !== null, 'the row has ended', 60_000);
    expect(command.exitCode).toBe(0);
  });

  it('that is killed takes them along, and they have touched nothing', async () => {
    const { command, servers, worker } = await waiting();
    command.kill('SIGKILL');
    await until(() => ![servers, worker].some(isAlive), 'they are gone');
    expect(readdirSync(stage.path('.runsheet'))).toEqual(['instance', 'logs']);
    expect(readFileSync(stage.path('.runsheet/logs/stack.log'), 'utf8')).toBe('');
  });

  it.each<[string, () => Promise<string>]>([
    ['an empty record of them', async () => ''],
    [
      'a record of a port where another program is silent',
      async () => {
        const blocker = createServer().unref();
        const port = await listen(blocker);
        return JSON.stringify({ pid: process.pid, control: { port, word: 'w', answer: 'a' } });
      },
    ],
  ])('that finds %s starts its servers', async (_, record) => {
    stage.write('.runsheet/embedded.json', await record());
    stage.write('sheet.csv', ROWS);
    const { code, stderr } = await stage.run('run sheet.csv -d portraits --local'.split(' '));
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('JSON')]);
  });

  it('ends a Temporal server whose stack was killed while it started', async () => {
    const { command, servers } = await waiting();
    const temporals = () => strays(stage.folder).filter((pid) => wordsOf(pid).includes('start-dev'));
    command.stdin.end(ROWS);
    await until(
      () => temporals().length > 0 && existsSync(stage.path('.runsheet/temporal.pid')),
      'it starts',
    );
    for (const pid of [servers, command.pid ?? Number.NaN]) process.kill(pid, 'SIGKILL');
    const [left] = temporals();
    expect(left).toBeDefined();
    stage.write('sheet.csv', ROWS);
    expect((await stage.run('run sheet.csv -d portraits --local'.split(' '))).code).toBe(0);
    expect(temporals()).toEqual([]);
  });

  it('into whose folder others may write opens no file there', async () => {
    const log = stage.path('.runsheet/logs/stack.log');
    rmSync(log);
    // Opening the log waits for a reader.
    execFileSync('mkfifo', [log]);
    chmodSync(stage.path('.runsheet'), 0o777);
    const { stderr } = await stage.run('run - -d portraits --local'.split(' '));
    expect(stderr).toContain('error[E606]');
  });

  it('that is refused leaves no process behind', async () => {
    const { code } = await stage.run(['run', 'no-such-sheet.csv', '-d', 'portraits', '--local']);
    expect(code).toBe(5);
    await until(() => strays(stage.folder).length === 0, 'they are gone');
    expect(readdirSync(stage.path('.runsheet'))).toEqual(['instance', 'logs']);
  });
});
