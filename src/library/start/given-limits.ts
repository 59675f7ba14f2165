// The limits of a batch as a program gives them, and what a batch makes of them.

import {
  AUTO_MOST,
  CONCURRENCY_MAX,
  MAX_COST_NANO_MAX,
  POOL_URGENCY_MAX,
  POOL_WEIGHT_MAX,
  RETRIES_MAX,
  STARTS_PER_MINUTE_MAX,
} from '../../options/bounds.ts';
import { FAILURE_KINDS, type FailureKind } from '../../options/failure-kind.ts';
import { GPUS, isGpu, type Gpu } from '../../options/gpu.ts';
import type { FailAfter, LimitChange } from '../../batch/params.ts';
import { isName } from '../../create-batch/batch-id.ts';
import { list, problem } from '../../errors/error.ts';
import { absoluteTarget, targetsOf } from '../../notices/notify-targets.ts';

/** Limits that may change while a batch runs. In a running batch, `null` removes a limit. */
export type Limits = {
  /**
   * The maximum number of runs at the same time (default: twice the deployment's limit). `auto` finds the useful number from queueing
   * times and 429, up to 256; `auto:64` up to 64.
   */
  readonly concurrency?: number | 'auto' | `auto:${number}`;
  /** The maximum number of runs at the same time by GPU, such as `{ H100: 2 }` (default: none). */
  readonly gpuConcurrency?: Readonly<Partial<Record<Gpu, number>>> | null;
  /** The maximum number of runs that start in a minute (default: none). */
  readonly startsPerMinute?: number | null;
  /**
   * How often a row is sent again whose run failed or timed out, from 0 to 20 (default: 2). An object sets it by the kind of failure;
   * `default` is for the kinds that it does not name.
   */
  readonly retries?: number | Readonly<Partial<Record<FailureKind | 'default', number>>>;
  /** Pauses before the runs could cost more than this, in US dollars (default: none). */
  readonly maxCostUsd?: number | null;
  /** Pauses after so many rows without success, or this share of the rows that ended, from 20 rows on (default: none). */
  readonly failAfter?: number | `${number}%` | null;
  /** Pauses at this time (default: none). */
  readonly deadline?: Date | null;
  /** The name of a pool, which has to exist: the batch shares its slots with the other batches of the pool (default: none). */
  readonly pool?: string | null;
  /** The share of a pool compared with equally urgent batches, from 1 to 1,000: 3 gets three times as much as 1 (default: 1). */
  readonly weight?: number;
  /** In a pool, more urgent batches come first, from 0 to 9 (default: 0). */
  readonly urgency?: number;
  /**
   * Who is notified when the batch is done, pauses, has many failed rows or has spent half of `maxCostUsd`: at most 5 of `https://…`,
   * `slack:`, `mailto:a@b`, `exec:/path`. They replace those that the batch had.
   */
  readonly notify?: readonly string[] | null;
  /** How many rows without success are many for `notify`, as `failAfter` (default: `5%`). */
  readonly notifyFailed?: number | `${number}%` | null;
};

/** Throws E602 for a number that cannot be a limit. */
export function limitChangeOf(limits: Limits): LimitChange {
  const { concurrency, gpuConcurrency, startsPerMinute, retries, maxCostUsd, failAfter, deadline } = limits;
  const { pool, weight, urgency, notify, notifyFailed } = limits;
  return {
    ...(concurrency === undefined ? {} : concurrencyOf(concurrency)),
    ...(gpuConcurrency === undefined ? {} : { gpuConcurrency: orNone(gpuConcurrency, gpuLimits) }),
    ...(startsPerMinute === undefined
      ? {}
      : {
          startsPerMinute: orNone(startsPerMinute, (most) =>
            whole('startsPerMinute', most, 1, STARTS_PER_MINUTE_MAX),
          ),
        }),
    ...(retries === undefined ? {} : retriesOf(retries)),
    ...(maxCostUsd === undefined ? {} : { maxCostNano: orNone(maxCostUsd, nanoOf) }),
    ...(failAfter === undefined
      ? {}
      : { failAfter: orNone(failAfter, (most) => failAfterOf('failAfter', most)) }),
    ...(deadline === undefined ? {} : { deadlineAt: orNone(deadline, timeOf) }),
    ...(pool === undefined ? {} : { pool: orNone(pool, poolOf) }),
    ...(weight === undefined ? {} : { weight: whole('weight', weight, 1, POOL_WEIGHT_MAX) }),
    ...(urgency === undefined ? {} : { urgency: whole('urgency', urgency, 0, POOL_URGENCY_MAX) }),
    ...(notify === undefined ? {} : { notify: orNone(notify, notifyOf) }),
    ...(notifyFailed === undefined
      ? {}
      : { notifyFailed: orNone(notifyFailed, (most) => failAfterOf('notifyFailed', most)) }),
  };
}

const orNone = <T, R>(given: T | null, read: (given: T) => R): R | 'none' =>
  given === null ? 'none' : read(given);

function concurrencyOf(
  given: NonNullable<Limits['concurrency']>,
): Pick<LimitChange, 'concurrency' | 'adaptive'> {
  if (typeof given === 'number') return { concurrency: whole('concurrency', given, 1, CONCURRENCY_MAX) };
  const [, most = AUTO_MOST] = /^auto(?::(\d+))?$/.exec(given) ?? refuse('concurrency', given, AUTO_FORMS);
  return { concurrency: whole('concurrency', Number(most), 1, CONCURRENCY_MAX), adaptive: true };
}

const AUTO_FORMS = 'a number, "auto" or "auto:64"';

const gpuLimits = (given: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(given).map(([gpu, most]) => [
      isGpu(gpu) ? gpu : refuse('a GPU of gpuConcurrency', gpu, `one of ${list(GPUS)}`),
      whole(`gpuConcurrency of ${gpu}`, most, 1, CONCURRENCY_MAX),
    ]),
  );

function retriesOf(given: NonNullable<Limits['retries']>): Pick<LimitChange, 'retries' | 'retriesByKind'> {
  if (typeof given === 'number') return { retries: whole('retries', given, 0, RETRIES_MAX) };
  const { default: others, ...byKind } = given;
  for (const [kind, most] of Object.entries(byKind)) {
    if (!FAILURE_KINDS.some((one) => one === kind))
      refuse('a kind of retries', kind, `one of ${list(FAILURE_KINDS)}, default`);
    whole(`retries of ${kind}`, most, 0, RETRIES_MAX);
  }
  return {
    ...(others === undefined ? {} : { retries: whole('retries', others, 0, RETRIES_MAX) }),
    ...(Object.keys(byKind).length === 0 ? {} : { retriesByKind: byKind }),
  };
}

const poolOf = (given: string): string => (isName(given) ? given : refuse('pool', given, NAME_FORM));

export const NAME_FORM =
  'letters, digits, dots, underscores and hyphens, at most 100, beginning with a letter or a digit';

const notifyOf = (given: readonly string[]): NonNullable<LimitChange['notify']> =>
  targetsOf(
    given.map((text) => {
      const target = absoluteTarget(text);
      if ('text' in target) return target.text;
      throw problem('E602', { what: `notify ${text} ${target.wrong}`, hint: target.hint });
    }),
  );

function nanoOf(usd: number): number {
  const nano = Math.round(usd * 1e9);
  return nano > 0 && nano <= MAX_COST_NANO_MAX ? nano : refuse('maxCostUsd', usd, 'above 0, up to 1,000,000');
}

function failAfterOf(name: string, given: number | string): FailAfter {
  if (typeof given === 'number') return { rows: whole(name, given, 1) };
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(given)?.[1];
  const share = Number(percent) / 100;
  return share > 0 && share <= 1 ? { share } : refuse(name, given, 'such as 200 or "5%"');
}

function timeOf(deadline: Date): number {
  const at = deadline.getTime();
  const isSoon = at > Date.now() && at <= Date.now() + DEADLINE_MOST_MS;
  return isSoon ? at : refuse('deadline', deadline, 'in the future, at most ten years from now');
}

const DEADLINE_MOST_MS = 3_650 * 86_400_000;

export function whole(name: string, given: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const isFine = Number.isInteger(given) && given >= least && given <= most;
  return isFine
    ? given
    : refuse(
        name,
        given,
        `a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}`,
      );
}

export function refuse(name: string, given: unknown, expected: string): never {
  throw problem('E602', { what: `${name} is ${String(given)}; it has to be ${expected}` });
}
