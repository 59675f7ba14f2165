// The limits of a batch: options that may change while it runs, and the part of the table that the batch workflow
// reads. Stored names never change, because running batches and their histories contain them.

import {
  MAX_AUTO,
  MAX_CONCURRENCY,
  MAX_COST_LIMIT_NANO,
  NOTIFY_FAILED,
  MAX_POOL_URGENCY,
  MAX_POOL_WEIGHT,
  MAX_RETRIES,
  MAX_STARTS_PER_MINUTE,
  USUAL_RETRIES,
} from './bounds-and-defaults.ts';
import { FAILURE_KINDS } from './facts/failure-kind.ts';
import { GPUS } from './facts/gpu.ts';
import { concurrency, count, countBy, moment, money, named, rowsOrShare, targets } from './kinds.ts';

/**
 * `kept`: the name under which a batch stores the limit, if it differs. `removable`: a batch may lose it. `merges`: a
 * change keeps names that it does not contain. `without`: the behaviour of a batch that does not store it.
 */
export const LIMITS = {
  concurrency: {
    kind: concurrency(MAX_CONCURRENCY, MAX_AUTO),
    scope: 'live',
    group: 'speed',
    help: 'maximum runs at the same time; auto finds the highest useful number from queue times and 429s, up to 256; auto:64 up to 64',
    usual: "twice the deployment's limit",
    alias: 'c',
  },
  retries: {
    kind: count(0, MAX_RETRIES),
    scope: 'live',
    group: 'failures',
    help: 'maximum retries of a failed or timed-out row',
    usual: String(USUAL_RETRIES),
  },
  retry: {
    kind: countBy(FAILURE_KINDS, 'kind of failure', 0, MAX_RETRIES),
    kept: 'retriesByKind',
    merges: true,
    scope: 'live',
    group: 'failures',
    help: 'retries by the kind of failure, such as out-of-memory=0,timeout=1',
    usual: 'as --retries; out-of-memory 1',
  },
  rate: {
    kind: count(1, MAX_STARTS_PER_MINUTE, '/min'),
    kept: 'startsPerMinute',
    removable: true,
    scope: 'live',
    group: 'speed',
    help: 'maximum runs started in a minute',
    usual: 'none',
  },
  gpuConcurrency: {
    kind: countBy<string>(GPUS, 'GPU', 1, MAX_CONCURRENCY),
    removable: true,
    merges: true,
    scope: 'live',
    group: 'speed',
    help: 'maximum runs at the same time by GPU, such as H100=2,A10G=16',
    usual: 'none',
  },
  failAfter: {
    kind: rowsOrShare,
    removable: true,
    scope: 'live',
    group: 'failures',
    help: 'pause after n rows without success, or n % of the rows that ended, from 20 rows on',
    usual: 'none',
  },
  deadline: {
    kind: moment,
    kept: 'deadlineAt',
    removable: true,
    scope: 'live',
    group: 'money',
    help: 'pause at this time, such as 2026-12-24T06:00, or this long after the command, such as 8h',
    usual: 'none',
  },
  maxCost: {
    kind: money(MAX_COST_LIMIT_NANO),
    kept: 'maxCostNano',
    removable: true,
    scope: 'live',
    group: 'money',
    help: 'pause before runs could cost more than this, such as 20 or 7.50',
    usual: 'none',
  },
  pool: {
    kind: named,
    removable: true,
    scope: 'live',
    group: 'pool',
    help: 'share the slots of this pool, which has to exist, with its other batches',
    usual: 'none',
    form: 'pool',
    proposes: 'pools',
  },
  weight: {
    kind: count(1, MAX_POOL_WEIGHT),
    without: 1,
    scope: 'live',
    group: 'pool',
    help: 'share of a pool, compared with equally urgent batches: 3 gets three times as much as 1',
    usual: '1',
  },
  urgency: {
    kind: count(0, MAX_POOL_URGENCY),
    without: 0,
    scope: 'live',
    group: 'pool',
    help: 'in a pool, more urgent batches come first, from 0 to 9',
    usual: '0',
  },
  notify: {
    kind: targets,
    removable: true,
    scope: 'live',
    group: 'notifications',
    help: 'notify when the batch is done, pauses, has many failed rows or has spent half of --max-cost; at most 5 of https://…, slack:, mailto:a@b, exec:./script',
    usual: 'none',
  },
  notifyFailed: {
    kind: rowsOrShare,
    removable: true,
    without: NOTIFY_FAILED,
    scope: 'live',
    group: 'notifications',
    help: 'how many unsuccessful rows trigger a --notify message',
    usual: '5%, from 20 rows on',
  },
} as const;

export type LimitName = keyof typeof LIMITS;
type Limit<N extends LimitName> = (typeof LIMITS)[N];

export type KeptOf<K> = K extends { isKept: (value: unknown) => value is infer T } ? T : never;

/** The name under which a batch stores a limit. */
type StoredName<N extends LimitName> = Limit<N> extends { readonly kept: infer S extends string } ? S : N;

/** The limits that every batch has. */
type Always = 'concurrency' | 'retries';

/** The limits that a batch has only if the user set them. */
export type OptionalLimits = {
  readonly [N in Exclude<LimitName, Always> as StoredName<N>]?: KeptOf<Limit<N>['kind']>;
} & {
  /** The first cap of each GPU whose useful concurrency is being found, up to `concurrency`. */
  readonly adaptive?: number;
};

/** Changed limits; `none` removes one. */
export type LimitChange = {
  readonly [N in LimitName as StoredName<N>]?:
    | KeptOf<Limit<N>['kind']>
    | (Limit<N> extends { readonly removable: true } ? 'none' : never);
} & {
  /**
   * Starts to find the useful concurrency, beginning at the concurrency in force. Without it, a concurrency stays
   * fixed.
   */
  readonly adaptive?: true;
};

/** The shape that all limits share, as the core treats them. */
type AnyLimit = {
  readonly kind: { readonly type: string; isKept(value: unknown): boolean; textOf(value: unknown): string };
  readonly kept?: string;
  readonly removable?: true;
  readonly merges?: true;
  readonly without?: unknown;
};

/** Every limit with its names: as users know it, and as it is stored. */
export const STORED_LIMITS = Object.entries<AnyLimit>(LIMITS).map(([option, limit]) => ({
  ...limit,
  option,
  stored: limit.kept ?? option,
}));

/** The limits of a batch without its other parameters. */
export function optionalLimits(params: OptionalLimits): OptionalLimits {
  const names = STORED_LIMITS.map(({ stored }) => stored).filter(
    (name) => name !== 'concurrency' && name !== 'retries',
  );
  const values: Readonly<Record<string, unknown>> = params;
  return Object.fromEntries(
    ['adaptive', ...names].filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
  );
}

/** A change without the limits that it removes. */
export const withoutNone = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== 'none')) as {
    readonly [K in keyof T]: Exclude<T[K], 'none'>;
  };
