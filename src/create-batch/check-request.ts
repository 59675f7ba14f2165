// Checks the name and the settings of a new batch that a command, a program or a workflow asks for. The numbers have
// travelled as JSON, so that NaN has become null. All of it throws E602.

import { mostConcurrency } from '../batch/bounds.ts';
import { problem } from '../errors/error.ts';
import { mostRetries } from '../options/failure-kind.ts';
import { named } from '../options/kinds.ts';
import { LIMITS, STORED_LIMITS, type LimitName, type LimitChange } from '../options/limits.ts';
import { formOf } from '../options/read.ts';
import { RETRIES, type BatchSpec, type Settings } from './batch-spec.ts';
import type { Config } from '../host/config.ts';
import { prepareNotify } from '../notices/notify-targets.ts';
import { refuseUnbounded } from '../store/attempt-cost.ts';
import type { BatchFile } from '../store/batch-file.ts';

type Request = Pick<BatchSpec, 'options' | 'settings'> & { readonly name?: string };

export function checkRequest({ name, settings, options }: Request): void {
  checkName(name);
  const given: Readonly<Record<string, unknown>> = settings;
  for (const { option, stored, kind } of STORED_LIMITS)
    if (given[stored] !== undefined && !kind.isKept(given[stored])) {
      const { kind: full } = LIMITS[option as LimitName];
      throw problem('E602', { what: `${option} is not ${formOf(full).expected(full)}` });
    }
  refuseNoRoom(settings, options.ladder);
}

export function checkName(name: string | undefined, what = 'the name of a batch'): void {
  if (name === undefined || named.isKept(name)) return;
  throw problem('E602', {
    what: `${what} is ${JSON.stringify(name)}`,
    hint: `use ${formOf(named).expected(named)}`,
  });
}

/** A batch whose deadline has passed would send nothing. */
export function refusePast({ deadlineAt }: Settings): void {
  if (deadlineAt === undefined || deadlineAt > Date.now()) return;
  throw problem('E602', {
    what:
      deadlineAt === null
        ? 'deadline is no time'
        : `deadline ${new Date(deadlineAt).toISOString()} has passed`,
  });
}

function refuseNoRoom(settings: Settings, ladder: readonly string[] | undefined): void {
  const { adaptive, concurrency, unconfirmed } = settings;
  if (adaptive && ladder) throw problem('E602', { what: 'concurrency "auto" and ladder exclude each other' });
  const { retries, retriesByKind } = settings;
  const resubmits = unconfirmed?.rule === 'resubmit';
  if (!adaptive) refuseTooMany({ concurrency, retries, retriesByKind, ladder, resubmits });
}

/** What decides how many runs a batch has room for; `written`: how the user wrote its options. */
export type Room = {
  readonly concurrency: number | undefined;
  readonly retries: number | undefined;
  readonly retriesByKind: Settings['retriesByKind'] | undefined;
  readonly ladder?: readonly string[] | undefined;
  readonly resubmits: boolean;
  readonly written?: { readonly concurrency: string; readonly retries: string };
};

const AS_OPTIONS = { concurrency: 'concurrency', retries: 'retries' };

/** Throws E602 if the state of a batch has no room for so many runs. */
export function refuseTooMany({ concurrency, ladder, resubmits, written = AS_OPTIONS, ...room }: Room): void {
  const { retries = RETRIES, retriesByKind = {} } = room;
  const attempts = mostRetries({ retries, retriesByKind, ...(ladder && { ladder }) });
  const most = mostConcurrency(attempts, resubmits);
  if (concurrency === undefined || concurrency <= most) return;
  throw problem('E602', {
    what: `${written.concurrency} ${concurrency.toLocaleString('en-US')} is too many for rows that may have ${attempts + 1} attempts`,
    hint: `use at most ${written.concurrency} ${most}, or fewer ${written.retries}: a batch stores every attempt of its running rows`,
  });
}

export type Where = {
  readonly config: Config;
  /** Whether workers of a cluster have settings of their own. */
  readonly isCluster: () => boolean | Promise<boolean>;
  readonly file?: BatchFile;
  /** Called only if a pool is given. */
  readonly pools?: () => Promise<{ show(pool: string): Promise<unknown> }>;
};

type Checked = Pick<LimitChange, 'pool' | 'notify'> & Partial<Pick<LimitChange, 'maxCostNano'>>;

/** Throws E312 for a budget without a bound, E540 for a pool that does not exist, because a batch would wait in it for ever, and E602. */
export async function checkSettings(
  change: Checked,
  { config, isCluster, file, pools }: Where,
): Promise<void> {
  if (file !== undefined) refuseUnbounded(file, change.maxCostNano);
  await prepareNotify(config, change, isCluster);
  const { pool } = change;
  if (pools !== undefined && pool !== undefined && pool !== 'none') await (await pools()).show(pool);
}
