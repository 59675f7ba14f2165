// The limits of a batch: options that may change while it runs. The batch workflow reads this part of the table; limits-help.ts has
// its sentences. Names that are stored never change, because running batches and their histories contain them.

import {
  AUTO_MOST,
  CONCURRENCY_MAX,
  MAX_COST_NANO_MAX,
  NOTIFY_FAILED,
  POOL_URGENCY_MAX,
  POOL_WEIGHT_MAX,
  RETRIES_MAX,
  STARTS_PER_MINUTE_MAX,
} from './bounds.ts';
import { FAILURE_KINDS } from './failure-kind.ts';
import { GPUS } from './gpu.ts';
import { concurrency, count, countBy, moment, money, named, rowsOrShare, targets } from './kinds.ts';

/**
 * `kept`: the name under which a batch stores it, if it is another one. `removable`: a batch may lose it. `merges`: a change keeps the
 * names that it does not contain. `without`: what holds in a batch that does not store it.
 */
export const LIMITS = {
  concurrency: { kind: concurrency(CONCURRENCY_MAX, AUTO_MOST) },
  retries: { kind: count(0, RETRIES_MAX) },
  retry: {
    kind: countBy(FAILURE_KINDS, 'kind of failure', 0, RETRIES_MAX),
    kept: 'retriesByKind',
    merges: true,
  },
  rate: { kind: count(1, STARTS_PER_MINUTE_MAX, '/min'), kept: 'startsPerMinute', removable: true },
  gpuConcurrency: {
    kind: countBy<string>(GPUS, 'GPU', 1, CONCURRENCY_MAX),
    removable: true,
    merges: true,
  },
  failAfter: { kind: rowsOrShare, removable: true },
  deadline: { kind: moment, kept: 'deadlineAt', removable: true },
  maxCost: { kind: money(MAX_COST_NANO_MAX), kept: 'maxCostNano', removable: true },
  pool: { kind: named, removable: true },
  weight: { kind: count(1, POOL_WEIGHT_MAX), without: 1 },
  urgency: { kind: count(0, POOL_URGENCY_MAX), without: 0 },
  notify: { kind: targets, removable: true },
  notifyFailed: { kind: rowsOrShare, removable: true, without: NOTIFY_FAILED },
} as const;

export type LimitName = keyof typeof LIMITS;
type Limit<N extends LimitName> = (typeof LIMITS)[N];

export type KeptOf<K> = K extends { isKept: (value: unknown) => value is infer T } ? T : never;

/** The name under which a batch stores a limit. */
type StoredName<N extends LimitName> = Limit<N> extends { readonly kept: infer S extends string } ? S : N;

/** Every batch has these two. */
type Always = 'concurrency' | 'retries';

/** The limits that a batch has only if the user set them. */
export type OptionalLimits = {
  readonly [N in Exclude<LimitName, Always> as StoredName<N>]?: KeptOf<Limit<N>['kind']>;
} & {
  /** The useful concurrency of each GPU is found, up to `concurrency`. The first cap of each. */
  readonly adaptive?: number;
};

/** Limits that change; `none` removes one. */
export type LimitChange = {
  readonly [N in LimitName as StoredName<N>]?:
    | KeptOf<Limit<N>['kind']>
    | (Limit<N> extends { readonly removable: true } ? 'none' : never);
} & {
  /** Finds the useful concurrency, from the concurrency in force. Without it, a concurrency is fixed from then on. */
  readonly adaptive?: true;
};

/** A limit as the core treats all of them. */
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
  const all: Readonly<Record<string, unknown>> = params;
  return Object.fromEntries(
    ['adaptive', ...names].filter((name) => all[name] !== undefined).map((name) => [name, all[name]]),
  );
}

/** A change without the limits that it removes. */
export const withoutNone = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== 'none')) as {
    readonly [K in keyof T]: Exclude<T[K], 'none'>;
  };
