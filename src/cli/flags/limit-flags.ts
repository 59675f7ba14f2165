// Flags of the limits of a batch, for a new batch and for one that runs.

import type { RetriesByKind } from '../../options/failure-kind.ts';
import { RETRIES_MAX } from '../../options/bounds.ts';
import type { FailAfter, GpuConcurrency } from '../../batch/params.ts';
import { optional, parsed, repeatable } from './flag-kinds.ts';
import {
  concurrencyOf,
  deadlineAt,
  failAfterLimit,
  gpuConcurrencyOf,
  maxCostOf,
  notifyTarget,
  perMinute,
  retriesOf,
  wholeFrom,
  type AutoConcurrency,
} from './flag-values.ts';
import { poolFlags, type PoolFlags } from './pool-flags.ts';

const ratePerMinute = parsed(perMinute);
const retriesByKind = parsed(retriesOf);
const concurrencyByGpu = parsed(gpuConcurrencyOf);
const failureLimit = parsed(failAfterLimit);
const deadlineTime = parsed(deadlineAt);
const amount = parsed(maxCostOf);
const notifyPlace = parsed(notifyTarget);
const concurrencyNumber = parsed(concurrencyOf);
const retriesNumber = parsed(wholeFrom(0, RETRIES_MAX));

/** Limits that may change while a batch runs. */
export const limitFlags = {
  concurrency: optional(
    concurrencyNumber(
      'n|auto',
      "maximum runs at the same time; auto or auto:64 finds the useful number from queueing times and 429, at most 256 or 64 (default: twice the deployment's limit)",
    ),
  ),
  retries: optional(
    retriesNumber('n', 'maximum retries of a row whose run failed or timed out (default: 2)'),
  ),
  retry: optional(
    retriesByKind(
      'kind=n,…',
      'retries by the kind of failure, such as out-of-memory=0,timeout=1 (default: as --retries; out-of-memory 1)',
    ),
  ),
  rate: optional(ratePerMinute('n/min', 'maximum runs started in a minute (default: none)')),
  gpuConcurrency: optional(
    concurrencyByGpu(
      'gpu=n,…',
      'maximum runs at the same time by GPU, such as H100=2,A10G=16 (default: none)',
    ),
  ),
  failAfter: optional(
    failureLimit(
      'n|n%',
      'pause after n rows without success, or n % of the rows that ended, from 20 rows on (default: none)',
    ),
  ),
  deadline: optional(
    deadlineTime(
      'time',
      'pause at this time, 2026-12-24T06:00, or so long after this command, 8h (default: none)',
    ),
  ),
  maxCost: optional(
    amount('usd', 'pause before the runs could cost more than this, such as 20 or 7.50 (default: none)'),
  ),
  ...poolFlags,
  notify: repeatable(
    notifyPlace(
      'target',
      'tell when the batch is done, pauses, has many failed rows or has spent half of --max-cost: https://…, slack:, mailto:a@b, exec:./script (default: none)',
    ),
  ),
  notifyFailed: optional(
    failureLimit('n|n%', 'which rows without success are many for --notify (default: 5%, from 20 rows on)'),
  ),
} as const;

/** The same for a batch that has its limits already. */
export const changedLimitFlags = Object.fromEntries(
  Object.entries(limitFlags).map(([flagName, flag]) => [
    flagName,
    { ...flag, brief: changedBrief(flag.brief) },
  ]),
) as typeof limitFlags;

function changedBrief(brief: string): string {
  const [, kept = brief, fallback] = /^(.*) \(default: ([^()]*)\)$/.exec(brief) ?? [];
  return `${kept} (default: unchanged${fallback === 'none' ? '; none removes it' : ''})`;
}

/** The values of {@link limitFlags}. */
export type LimitFlags = PoolFlags & {
  readonly concurrency?: number | AutoConcurrency;
  readonly retries?: number;
  readonly retry?: RetriesByKind;
  readonly rate?: number | 'none';
  readonly gpuConcurrency?: GpuConcurrency | 'none';
  readonly failAfter?: FailAfter | 'none';
  readonly deadline?: number | 'none';
  readonly maxCost?: number | 'none';
  readonly notify?: readonly string[];
  readonly notifyFailed?: FailAfter | 'none';
};
