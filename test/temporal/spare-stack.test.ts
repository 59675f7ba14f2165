// The process of the embedded servers that a command prepares while it loads its own code.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { ownEnvironment } from '../stage/command.ts';
import { familyOf, isAlive, strays } from '../stage/processes.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { until } from '../stage/stage.ts';

const ROWS = 'number,prompt,seed\n1,a fox,7\n';

describe('where servers have run before, a command that needs the local service', () => {
  const stage = freshStage(async (at) => at.write('.runsheet/logs/stack.log', ''));

  /** It has prepared a process, and waits for its sheet. */
  async function waiting() {
    const command = spawn(process.execPath, [programFile(), ...'run - -d portraits --local'.split(' ')], {
      cwd: stage.folder,
      env: ownEnvironment(),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const prepared = (): number | undefined =>
      familyOf(command.pid).find(
        (pid) => pid !== command.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('embedded'),
      );
    await until(() => prepared() !== undefined, 'it has prepared a process');
    return { command, prepared: prepared() ?? Number.NaN };
  }

  it('runs its sheet with the servers that it has prepared', async () => {
    const { command, prepared } = await waiting();
    command.stdin.end(ROWS);
    await until(() => readRecord(stage.path('.runsheet')) !== undefined, 'the servers start');
    expect(readRecord(stage.path('.runsheet'))?.pid).toBe(prepared);
    await until(() => command.exitCode !== null, 'the row has ended', 60_000);
    expect(command.exitCode).toBe(0);
  });

  it('that is killed takes them along, and they have touched nothing', async () => {
    const { command, prepared } = await waiting();
    command.kill('SIGKILL');
    await until(() => !isAlive(prepared), 'they are gone');
    expect(readdirSync(stage.path('.runsheet'))).toEqual(['logs']);
    expect(readFileSync(stage.path('.runsheet/logs/stack.log'), 'utf8')).toBe('');
  });

  it('that is refused leaves no process behind', async () => {
    const { code } = await stage.run(['run', 'no-such-sheet.csv', '-d', 'portraits', '--local']);
    expect([code, strays(stage.folder)]).toEqual([5, []]);
    expect(readdirSync(stage.path('.runsheet'))).toEqual(['logs']);
  });
});
