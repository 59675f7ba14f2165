// The targets of a batch's notifications, and the settings that this machine needs for them.

import { accessSync, constants, realpathSync } from 'node:fs';
import { isInterpreter, readTarget, UNNAMED, type NotifyTarget } from '../options/notify-target.ts';
import { join } from 'node:path';
import type { LimitChange } from '../options/limits.ts';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import { keepLine, keptLines } from '../host/kept-lines.ts';
import { shellWord } from '../errors/outside-text.ts';

/** The programs that the workers of a cluster may start. */
export type Programs = {
  /** False only if no worker may start the program for certain. */
  mayBeStarted(path: string): Promise<boolean>;
};

type NotifyWhere = {
  readonly isCluster: () => boolean | Promise<boolean>;
  /** Absent where the workers are not asked. */
  readonly programs?: () => Promise<Programs | undefined>;
};

/**
 * Embedded servers run here with these settings, so a missing one is refused, and programs are allowed to start. On a
 * cluster only the workers know which programs they start. Throws E602.
 */
export async function prepareNotify(
  config: Config,
  { notify }: Pick<LimitChange, 'notify'>,
  { isCluster, programs }: NotifyWhere,
): Promise<void> {
  if (notify === undefined || notify === 'none') return;
  if (await isCluster()) return refuseUnserved(notify, programs);
  for (const text of notify) {
    const target = readTarget(text) as NotifyTarget;
    const missing = missingFor(target, config.notify);
    if (missing !== undefined)
      throw problem('E602', { what: `to notify ${text}, ${missing.what} is missing`, hint: missing.hint });
    if (target.kind === 'exec') allowProgram(config.home, target.path);
  }
}

async function refuseUnserved(notify: readonly string[], programs: NotifyWhere['programs']): Promise<void> {
  for (const text of notify) {
    const target = readTarget(text) as NotifyTarget;
    if (target.kind !== 'exec') continue;
    const workers = await programs?.();
    if (workers === undefined || (await workers.mayBeStarted(target.path))) continue;
    throw problem('E602', {
      what: `no worker may start ${target.path}, so --notify ${text} would reach nobody`,
      hint: `start a worker that may: RUNSHEET_NOTIFY_EXEC=${shellWord(target.path)} runsheet worker`,
    });
  }
}

type Missing = { readonly what: string; readonly hint: string };

function missingFor(target: NotifyTarget, { urls, slack, smtp }: Config['notify']): Missing | undefined {
  if (target.kind === 'slack' && !slack.has(target.name))
    return addressOf('RUNSHEET_SLACK_WEBHOOK', target.name);
  if (target.kind === 'named' && !urls.has(target.name)) return addressOf('RUNSHEET_NOTIFY_URL', target.name);
  if (target.kind === 'mailto' && smtp === undefined)
    return { what: 'a mail server', hint: 'set RUNSHEET_SMTP_URL=smtps://user:password@host:465' };
  if (target.kind === 'exec' && leadsToInterpreter(target.path))
    return {
      what: 'another program: this one resolves to a shell, which would execute the text of the notification',
      hint: 'name a program that reads JSON: exec:./notify.sh',
    };
  if (target.kind === 'exec' && !isProgram(target.path))
    return {
      what: 'a program there',
      hint: `check the path, or make it executable: chmod +x ${shellWord(target.path)}`,
    };
  return undefined;
}

/** The setting without a name belongs to `slack:`. */
const addressOf = (variable: string, name: string): Missing =>
  name === UNNAMED
    ? { what: 'the address of the webhook', hint: `set ${variable}=https://…` }
    : { what: `the address of the name ${name}`, hint: `set ${variable}=${name}=https://…` };

/** Whether the path leads to an interpreter, even through links. */
export function leadsToInterpreter(path: string): boolean {
  try {
    return isInterpreter(realpathSync(path));
  } catch {
    return false;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const programsFile = (home: string): string => join(home, 'programs');

export const allowProgram = (home: string, path: string): void => keepLine(programsFile(home), path);

export const allowedPrograms = (home: string): readonly string[] => keptLines(programsFile(home));
