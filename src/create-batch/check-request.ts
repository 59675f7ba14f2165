// Checks the name and the settings of a new batch that a command, a program or a workflow asks for. The numbers have
// travelled as JSON, so that NaN has become null. All of it throws E602.

import { mostConcurrency } from '../batch/bounds.ts';
import {
  CANARY_ROWS_MAX,
  CONCURRENCY_MAX,
  MAX_COST_NANO_MAX,
  NOTIFY_TARGETS_MAX,
  POOL_URGENCY_MAX,
  POOL_WEIGHT_MAX,
  RETRIES_MAX,
  STARTS_PER_MINUTE_MAX,
} from '../options/bounds.ts';
import { FAILURE_KINDS, mostRetries } from '../options/failure-kind.ts';
import { GPUS, isGpu } from '../options/gpu.ts';
import { readTarget } from '../options/notify-target.ts';
import type { FailAfter } from '../batch/params.ts';
import { list, nearest, problem } from '../errors/error.ts';
import { isName } from './batch-id.ts';
import { RETRIES, type BatchSpec, type Settings } from './batch-spec.ts';

type Request = Pick<BatchSpec, 'options' | 'settings'> & { readonly name?: string };

export function checkRequest({ name, settings, options }: Request): void {
  checkName(name);
  for (const [what, [least, most]] of Object.entries(WHOLE))
    whole(what, settings[what as keyof typeof WHOLE], least, most);
  checkCost(settings.maxCostNano);
  checkByName(settings);
  checkFailAfter('failAfter', settings.failAfter);
  checkFailAfter('notifyFailed', settings.notifyFailed);
  checkNotify(settings.notify);
  whole('canary', settings.canary?.rows, 1, CANARY_ROWS_MAX);
  refuseNoRoom(settings, options.ladder);
}

/** The name of a batch or of a pool. */
export function checkName(name: string | undefined, what = 'the name of a batch'): void {
  if (name === undefined || isName(name)) return;
  throw problem('E602', {
    what: `${what} is ${JSON.stringify(name)}`,
    hint: 'use letters, digits, dots, underscores and hyphens, at most 100, beginning with a letter or a digit',
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

const WHOLE = {
  concurrency: [1, CONCURRENCY_MAX],
  retries: [0, RETRIES_MAX],
  startsPerMinute: [1, STARTS_PER_MINUTE_MAX],
  weight: [1, POOL_WEIGHT_MAX],
  urgency: [0, POOL_URGENCY_MAX],
} as const satisfies Partial<Record<keyof Settings, readonly [least: number, most: number]>>;

function whole(what: string, given: number | undefined, least: number, most: number): void {
  const isFine = given === undefined || (Number.isInteger(given) && given >= least && given <= most);
  if (isFine) return;
  throw problem('E602', {
    what: `${what} is ${String(given)}, not a whole number from ${least} to ${most.toLocaleString('en-US')}`,
  });
}

function checkCost(nano: number | undefined): void {
  if (nano === undefined || (nano > 0 && nano <= MAX_COST_NANO_MAX)) return;
  const usd = nano === null ? 'no number' : `$${nano / 1e9}`;
  throw problem('E602', { what: `the cost limit is ${usd}, not an amount above $0, up to $1,000,000` });
}

function checkByName({ retriesByKind = {}, gpuConcurrency = {}, pool }: Settings): void {
  for (const [kind, retries] of Object.entries(retriesByKind)) {
    refuseUnknown('retries', kind, FAILURE_KINDS);
    whole(`retries of ${kind}`, retries, 0, RETRIES_MAX);
  }
  for (const [gpu, most] of Object.entries(gpuConcurrency)) {
    if (!isGpu(gpu)) refuseUnknown('gpuConcurrency', gpu, GPUS);
    whole(`gpuConcurrency of ${gpu}`, most, 1, CONCURRENCY_MAX);
  }
  checkName(pool, 'pool');
}

function refuseUnknown(what: string, given: string, known: readonly string[]): void {
  if (known.includes(given)) return;
  const near = nearest(given, known);
  throw problem('E602', {
    what: `${what} names ${JSON.stringify(given)}`,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}it may name: ${list(known)}`,
  });
}

function checkFailAfter(what: string, given: FailAfter | undefined): void {
  if (given === undefined) return;
  if ('rows' in given) return whole(what, given.rows, 1, Number.MAX_SAFE_INTEGER);
  if (given.share > 0 && given.share <= 1) return;
  throw problem('E602', { what: `${what} is no share above 0 %, up to 100 %`, hint: 'examples: 200, "5%"' });
}

function checkNotify(targets: readonly string[] = []): void {
  if (targets.length > NOTIFY_TARGETS_MAX)
    throw problem('E602', {
      what: `notify names ${targets.length} targets`,
      hint: `a batch notifies at most ${NOTIFY_TARGETS_MAX}; one of them may pass it on`,
    });
  for (const text of targets) {
    const target = readTarget(text);
    // A target that is refused may contain a secret.
    if ('wrong' in target)
      throw problem('E602', { what: `a target of notify ${target.wrong}`, hint: target.hint });
  }
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
