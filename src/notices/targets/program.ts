// Starts a program that gets the body of a notification as JSON on its standard input.

import { access, constants } from 'node:fs/promises';
import { errorMessage } from '../../errors/error.ts';
import { spawnOnLifeline } from '../../host/lifeline.ts';
import type { AnyNoticeBody } from '../notice-body.ts';
import { leadsToInterpreter } from '../prepare-targets.ts';
import { undeliverable, undelivered } from '../undelivered.ts';

export type ProgramSettings = {
  /** Whether the user of this machine allowed the program. */
  readonly mayStart: (path: string) => boolean;
  /** The environment of programs, without our secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const WITHIN_MS = 15_000;

export async function startProgram(
  path: string,
  body: AnyNoticeBody,
  { settings, signal }: { readonly settings: ProgramSettings; readonly signal: AbortSignal },
): Promise<void> {
  if (!settings.mayStart(path))
    throw undelivered(`${path} may not be started here: set RUNSHEET_NOTIFY_EXEC=${path} for this worker`);
  if (leadsToInterpreter(path))
    throw undeliverable(`${path} resolves to a shell, which would execute the text of the notification`);
  const cannotStart = (error: unknown): Error =>
    undeliverable(`${path} cannot be started: ${errorMessage(error)}`);
  await access(path, constants.X_OK).catch((error: unknown) => {
    throw cannotStart(error);
  });
  // The program runs in a process group of its own, so that its children end with it.
  const child = spawnOnLifeline(path, [], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: settings.environment,
  });
  const kill = (): void => killGroup(child.pid);
  const within = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', (error) => reject(cannotStart(error)));
    child.once('exit', (code, by) => resolve(code === 0 ? undefined : `${path} ended with ${code ?? by}`));
  });
  within.addEventListener('abort', kill);
  // A program need not read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(`${JSON.stringify(body)}\n`);
  try {
    const wrong = await ended;
    if (within.aborted) throw undelivered(`${path} took longer than ${WITHIN_MS / 1_000} s`);
    if (wrong !== undefined) throw undelivered(wrong);
  } finally {
    within.removeEventListener('abort', kill);
  }
}

/** Kills the group, which may have ended this very moment; an error in a listener would end the worker. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
