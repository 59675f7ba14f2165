// The limits of a batch as a program gives them, and what a batch makes of them.

import { AUTO_MOST, CONCURRENCY_MAX, MAX_COST_NANO_MAX } from '../batch/bounds.ts';
import type { FailureKind } from '../batch/failure-kind.ts';
import type { FailAfter, LimitChange } from '../batch/params.ts';
import { problem } from '../errors/error.ts';

/** In a running batch, `null` removes a limit. */
export type Limits = {
  /** Runs at the same time (default: twice the deployment's limit); `auto` finds the useful number. */
  readonly concurrency?: number | 'auto';
  /** Runs at the same time by GPU. */
  readonly gpuConcurrency?: Readonly<Record<string, number>> | null;
  readonly startsPerMinute?: number | null;
  /** Further attempts of a row whose run failed or timed out (default: 2), or by kind of failure. */
  readonly retries?: number | Readonly<Partial<Record<FailureKind, number>>>;
  /** US dollars. */
  readonly maxCostUsd?: number | null;
  /** Pauses after so many rows, or this share of the rows that have ended, without success. */
  readonly failAfter?: number | `${number}%` | null;
  /** Sends nothing more from then on. */
  readonly deadline?: Date | null;
};

/** Throws E602 for a number that cannot be a limit. */
export function limitChangeOf(limits: Limits): LimitChange {
  const { concurrency, gpuConcurrency, startsPerMinute, retries, maxCostUsd, failAfter, deadline } = limits;
  return {
    ...(concurrency === undefined ? {} : concurrencyOf(concurrency)),
    ...(gpuConcurrency === undefined ? {} : { gpuConcurrency: orNone(gpuConcurrency, gpuLimits) }),
    ...(startsPerMinute === undefined
      ? {}
      : { startsPerMinute: orNone(startsPerMinute, (most) => whole('startsPerMinute', most, 1)) }),
    ...(retries === undefined ? {} : retriesOf(retries)),
    ...(maxCostUsd === undefined ? {} : { maxCostNano: orNone(maxCostUsd, nanoOf) }),
    ...(failAfter === undefined ? {} : { failAfter: orNone(failAfter, failAfterOf) }),
    ...(deadline === undefined ? {} : { deadlineAt: orNone(deadline, timeOf) }),
  };
}

const orNone = <T, R>(given: T | null, read: (given: T) => R): R | 'none' =>
  given === null ? 'none' : read(given);

const concurrencyOf = (given: number | 'auto'): Pick<LimitChange, 'concurrency' | 'adaptive'> =>
  given === 'auto'
    ? { concurrency: AUTO_MOST, adaptive: true }
    : { concurrency: whole('concurrency', given, 1, CONCURRENCY_MAX) };

const gpuLimits = (given: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(given).map(([gpu, most]) => [
      gpu,
      whole(`gpuConcurrency of ${gpu}`, most, 1, CONCURRENCY_MAX),
    ]),
  );

const retriesOf = (given: NonNullable<Limits['retries']>): Pick<LimitChange, 'retries' | 'retriesByKind'> =>
  typeof given === 'number' ? { retries: whole('retries', given, 0) } : { retriesByKind: given };

function nanoOf(usd: number): number {
  const nano = Math.round(usd * 1e9);
  return nano > 0 && nano <= MAX_COST_NANO_MAX ? nano : refuse('maxCostUsd', usd, 'above 0, up to 1,000,000');
}

function failAfterOf(given: number | string): FailAfter {
  if (typeof given === 'number') return { rows: whole('failAfter', given, 1) };
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(given)?.[1];
  const share = Number(percent) / 100;
  return share > 0 && share <= 1 ? { share } : refuse('failAfter', given, 'such as 200 or "5%"');
}

function timeOf(deadline: Date): number {
  const at = deadline.getTime();
  return at > Date.now() ? at : refuse('deadline', String(deadline), 'in the future');
}

function whole(name: string, given: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const isFine = Number.isInteger(given) && given >= least && given <= most;
  return isFine
    ? given
    : refuse(
        name,
        given,
        `a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}`,
      );
}

function refuse(name: string, given: unknown, expected: string): never {
  throw problem('E602', { what: `${name} is ${String(given)}; it has to be ${expected}` });
}
