// Gives a notification to a program where the worker runs, as JSON on its stdin. Only programs start that the user of this
// machine allowed, because anybody who can write to a batch could name one.

import { spawn } from 'node:child_process';
import type { AnyBody } from './any-body.ts';
import type { NoticeSettings } from './settings.ts';
import { undeliverable, undelivered } from './fault.ts';

/** The most that a program may take. */
const WITHIN_MS = 15_000;

export async function startProgram(
  path: string,
  body: AnyBody,
  { settings, signal }: { readonly settings: NoticeSettings; readonly signal: AbortSignal },
): Promise<void> {
  if (!settings.mayStart(path))
    throw undeliverable(`${path} may not be started here: set RUNSHEET_NOTIFY_EXEC=${path} for this worker`);
  const child = spawn(path, [], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: settings.environment,
    // Its children end with it.
    detached: true,
  });
  const kill = (): void => killGroup(child.pid);
  const within = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', (error) => reject(undeliverable(`${path} cannot be started: ${error.message}`)));
    child.once('exit', (code, by) => resolve(code === 0 ? undefined : `${path} ended with ${code ?? by}`));
  });
  within.addEventListener('abort', kill);
  // A program that does not read its input still got it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(body)}\n`);
  try {
    const wrong = await ended;
    if (within.aborted) throw undelivered(`${path} took longer than ${WITHIN_MS / 1_000} s`);
    if (wrong !== undefined) throw undelivered(wrong);
  } finally {
    within.removeEventListener('abort', kill);
  }
}

/** It may have ended this very moment; an error in a listener would end the worker. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
