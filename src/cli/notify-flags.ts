// --notify: who is notified, and what this machine must know for that.

import { accessSync, constants } from 'node:fs';
import { NOTIFY_TARGETS_MAX } from '../batch/bounds.ts';
import { readTarget, type Target } from '../batch/notify-target.ts';
import type { LimitChange } from '../batch/params.ts';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/config.ts';
import { allowProgram } from '../store/allowed-programs.ts';
import type { LimitFlags } from './flags.ts';

/** Targets replace those that the batch had. Throws E602 for too many. */
export function notifyLimits({ notify }: Pick<LimitFlags, 'notify'>): Pick<LimitChange, 'notify'> {
  if (notify === undefined || notify.length === 0) return {};
  const targets = [...new Set(notify)].filter((one) => one !== 'none');
  if (targets.length === 0) return { notify: 'none' };
  if (targets.length <= NOTIFY_TARGETS_MAX) return { notify: targets };
  throw problem('E602', {
    what: `${targets.length} targets are too many for --notify`,
    hint: `a batch notifies at most ${NOTIFY_TARGETS_MAX}; one of them may pass it on`,
  });
}

/**
 * Embedded servers run here with these settings, so a missing one is refused; programs are allowed to start. On a cluster only its
 * workers know. Throws E602.
 */
export async function prepareNotify(config: Config, flags: Pick<LimitFlags, 'notify'>): Promise<void> {
  const { notify: targets } = notifyLimits(flags);
  if (!Array.isArray(targets)) return;
  // The Temporal client is half of what a command loads.
  const { temporalFrom } = await import('../temporal/temporal-address.ts');
  if (temporalFrom(config.environment) !== undefined) return;
  for (const text of targets as readonly string[]) {
    const target = readTarget(text) as Target;
    const missing = missingFor(target, config.notify);
    if (missing !== undefined)
      throw problem('E602', { what: `--notify ${text} needs ${missing.what}`, hint: missing.hint });
    if (target.kind === 'exec') allowProgram(config.home, target.path);
  }
}

type Missing = { readonly what: string; readonly hint: string };

function missingFor(target: Target, { urls, slack, smtp }: Config['notify']): Missing | undefined {
  if (target.kind === 'slack' && !slack.has(target.name))
    return addressOf('RUNSHEET_SLACK_WEBHOOK', target.name);
  if (target.kind === 'named' && !urls.has(target.name)) return addressOf('RUNSHEET_NOTIFY_URL', target.name);
  if (target.kind === 'mailto' && smtp === undefined)
    return { what: 'a mail server', hint: 'set RUNSHEET_SMTP_URL=smtps://user:password@host:465' };
  if (target.kind === 'exec' && !isProgram(target.path))
    return {
      what: 'a program there',
      hint: `check the path, or make it executable: chmod +x ${target.path}`,
    };
  return undefined;
}

const addressOf = (variable: string, name: string): Missing => ({
  what: `the address of the name ${name}`,
  hint: `set ${variable}=${name}=https://…`,
});

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
