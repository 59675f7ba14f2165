// The limits of a batch as JSON.

import { z } from 'zod';
import type { LimitChange, OptionalLimits } from '../../batch/params.ts';
import { amount, count, time, timeOf, usdOf, type Given } from './shape.ts';

/** One of the two is null. */
const failures = z.object({ rows: count.nullable(), share: amount.nullable() }).nullable();

export const limitsSchema = z.object({
  concurrency: count,
  auto: z.boolean().describe('the useful concurrency is found; concurrency is the most'),
  retries: count,
  retries_by_kind: z.record(z.string(), count).nullable(),
  starts_per_minute: count.nullable(),
  gpu_concurrency: z.record(z.string(), count).nullable(),
  fail_after: failures,
  deadline_at: time.nullable(),
  max_cost_usd: amount.nullable(),
  pool: z.string().nullable(),
  weight: count.nullable(),
  urgency: count.nullable(),
  notify: z.array(z.string()).nullable(),
  notify_failed: failures,
});

type Limits = z.infer<typeof limitsSchema>;

export function limitsOf(
  limits: OptionalLimits & { readonly concurrency: number; readonly retries: number },
): Given<Limits> {
  const { concurrency, retries, adaptive, ...optional } = limits;
  return { ...changesOf(optional), concurrency, retries, auto: adaptive !== undefined };
}

/** Only the limits that change; null removes one. */
export function changesOf({
  concurrency,
  adaptive,
  retries,
  retriesByKind,
  startsPerMinute,
  gpuConcurrency,
  failAfter,
  deadlineAt,
  maxCostNano,
  pool,
  weight,
  urgency,
  notify,
  notifyFailed,
}: LimitChange): Partial<Limits> {
  const all = {
    concurrency,
    auto: concurrency === undefined ? adaptive : adaptive === true,
    retries,
    retries_by_kind: retriesByKind as Record<string, number> | undefined,
    starts_per_minute: orNull(startsPerMinute),
    gpu_concurrency: orNull(gpuConcurrency),
    fail_after: failuresOf(failAfter),
    deadline_at: deadlineAt === undefined ? undefined : deadlineAt === 'none' ? null : timeOf(deadlineAt),
    max_cost_usd: maxCostNano === undefined ? undefined : maxCostNano === 'none' ? null : usdOf(maxCostNano),
    pool: pool === 'none' ? null : pool,
    weight,
    urgency,
    notify: notify === undefined ? undefined : notify === 'none' ? null : [...notify],
    notify_failed: failuresOf(notifyFailed),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

const orNull = <T>(value: T | 'none'): T | null => (value === 'none' ? null : value);

const failuresOf = (limit: LimitChange['failAfter']): Limits['fail_after'] | undefined => {
  if (limit === undefined) return undefined;
  if (limit === 'none') return null;
  return 'rows' in limit ? { rows: limit.rows, share: null } : { rows: null, share: limit.share };
};
