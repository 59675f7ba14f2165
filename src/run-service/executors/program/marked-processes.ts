// The processes of a try, recognised by a mark in their environment. A remembered pid may belong to another
// program by now, so signals go only to processes that carry the mark at this moment. A process that replaced
// its whole environment is not recognised.

import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

/** How long processes may take to end after SIGTERM. */
const TERM_MS = 5_000;
const LOOK_MS = 100;

/** `RUNSHEET_TRY=<mark>`; the watchman of the time limit carries `RUNSHEET_LIMIT_OF=<mark>`. */
export const MARK_NAMES = ['RUNSHEET_TRY', 'RUNSHEET_LIMIT_OF'] as const;
type MarkName = (typeof MARK_NAMES)[number];

/** The pids of living processes with this mark. */
export const processesOf = async (
  mark: string,
  names: readonly MarkName[] = ['RUNSHEET_TRY'],
): Promise<readonly number[]> => {
  const texts = names.map((name) => `${name}=${mark}`);
  return process.platform === 'linux' ? inProc(texts) : byPs(texts);
};

async function inProc(texts: readonly string[]): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const isMarked = async (pid: string): Promise<boolean> => {
    // Processes of other users cannot be read, and a zombie has no environment.
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    return environment !== '' && environment.split('\0').some((entry) => texts.includes(entry));
  };
  const marks = await Promise.all(pids.map(isMarked));
  return pids.filter((_, at) => marks[at] === true).map(Number);
}

const PS_BYTES = 64 << 20;

/** macOS shows the environment of the user's own processes after their command. */
async function byPs(texts: readonly string[]): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axEww', '-o', 'pid=,command='], {
    maxBuffer: PS_BYTES,
  });
  return stdout
    .split('\n')
    .filter((line) => texts.some((text) => `${line} `.includes(` ${text} `)))
    .map((line) => Number.parseInt(line, 10));
}

/** Ends all processes with this mark, first by SIGTERM. Resolves once none is left. */
export async function endProcesses(mark: string): Promise<void> {
  const until = performance.now() + TERM_MS;
  const signalled = new Set<number>();
  const find = () => processesOf(mark, MARK_NAMES);
  for (let pids = await find(); pids.length > 0; pids = await find()) {
    const signal = performance.now() < until ? 'SIGTERM' : 'SIGKILL';
    for (const pid of pids)
      if (signal === 'SIGKILL' || !signalled.has(pid)) {
        signalled.add(pid);
        send(pid, signal);
      }
    await wait(LOOK_MS);
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
