// Starts programs that end with this process, however it was killed. A watcher in the program's process group reads a pipe whose
// other end only this process holds:
//
//   running ──the program ends: a line──▶ the watcher ends
//      └──this process is gone: end of file, after a grace──▶ the watcher kills the group

import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';

const SHELL = '/bin/sh';
/** The file descriptor of the pipe; 0 to 2 belong to the program. */
const FD = 3;

/**
 * `exec` turns the shell into the program, which keeps the process id, exit code and stdin. The watcher is not a child of the
 * program, which may wait for its children. While the watcher lives, the system does not reuse the id of its group.
 */
const WATCH = `read -r _ <&${FD} || { sleep "$0"; kill -s KILL -- "-$$"; }`;
const WATCHED = `( (${WATCH}) >/dev/null 2>&1 & ); exec "$@" ${FD}<&-`;

type LifelineOptions = Omit<SpawnOptions, 'detached' | 'stdio'> & {
  readonly stdio: readonly [stdin: Stdio, stdout: Stdio, stderr: Stdio];
  /** How long the program outlives this process (default: not at all). */
  readonly graceSeconds?: number;
};
type Stdio = 'pipe' | 'ignore' | number;

/** Starts `program` in a process group of its own, which ends with this process. Without a POSIX shell, the program is only started. */
export function spawnOnLifeline(
  program: string,
  args: readonly string[],
  { graceSeconds = 0, stdio, ...options }: LifelineOptions,
): ChildProcess {
  if (!existsSync(SHELL)) return spawn(program, args, { ...options, stdio: [...stdio], detached: true });
  const child = spawn(SHELL, ['-c', WATCHED, String(graceSeconds), program, ...args], {
    ...options,
    stdio: [...stdio, 'pipe'],
    detached: true,
  });
  const lifeline = child.stdio[FD] as (Writable & { unref?(): void }) | null | undefined;
  // The watcher was killed, and the program continues without it.
  lifeline?.on('error', () => undefined);
  lifeline?.unref?.();
  child.once('exit', () => lifeline?.end('\n'));
  return child;
}
