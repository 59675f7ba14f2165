// Cleans up after a killed stack. Its worker and its run service notice the broken channel and exit; Temporal does not, and it
// keeps the database locked.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { databaseOf } from './temporal-server.ts';
import { readRecord, removeRecord } from './stack-file.ts';

const END_MS = 5_000;
const ASK_AGAIN_MS = 20;

/** Kills the server of a dead stack, and removes the stack's record. */
export async function clearOrphans(home: string): Promise<void> {
  const pid = readRecord(home)?.temporal?.pid;
  if (pid !== undefined && isServerOf(pid, home)) {
    process.kill(pid, 'SIGKILL');
    for (const until = Date.now() + END_MS; isServerOf(pid, home) && Date.now() < until;)
      await wait(ASK_AGAIN_MS);
  }
  removeRecord(home);
}

/** Whether the process is the server of this state folder; another process may have its pid. */
function isServerOf(pid: number, home: string): boolean {
  return commandOf(pid).includes(databaseOf(home));
}

function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
  } catch {
    // There is no such process, or we may not read it; in both cases it is not our server.
    return '';
  }
}
