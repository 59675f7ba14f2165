// The limits of a batch as JSON: the names under which they are stored, in snake case, with their units.

import { z } from 'zod';
import { STORED_LIMITS, type LimitChange, type OptionalLimits } from '../../options/limits.ts';
import { amount, count, time, timeOf, usdOf, type Given } from './shape.ts';

/** One of the two is null. */
const failures = z.object({ rows: count.nullable(), share: amount.nullable() });

const SHOWN: Readonly<
  Record<string, { readonly schema: z.ZodType; readonly of?: (value: never) => unknown }>
> = {
  count: { schema: count },
  countBy: { schema: z.record(z.string(), count) },
  rowsOrShare: {
    schema: failures,
    of: (limit: object) => ({ rows: null, share: null, ...limit }),
  },
  moment: { schema: time, of: timeOf },
  money: { schema: amount, of: usdOf },
  named: { schema: z.string() },
  targets: { schema: z.array(z.string()) },
};

const OTHERS = STORED_LIMITS.filter(({ stored }) => stored !== 'concurrency' && stored !== 'retries').map(
  ({ stored, kind }) => ({
    stored,
    name: stored.replace(/Nano$/, 'Usd').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    shown: SHOWN[kind.type] as (typeof SHOWN)[string],
  }),
);

export const limitsSchema = z.object({
  concurrency: count,
  auto: z.boolean().describe('the useful concurrency is found; concurrency is the most'),
  retries: count,
  ...Object.fromEntries(OTHERS.map(({ name, shown }) => [name, shown.schema.nullable()])),
});

type Limits = z.infer<typeof limitsSchema>;

export const limitsOf = ({
  concurrency,
  retries,
  adaptive,
  ...optional
}: OptionalLimits & { readonly concurrency: number; readonly retries: number }): Given<Limits> => ({
  ...changesOf(optional),
  concurrency,
  retries,
  auto: adaptive !== undefined,
});

/** Only the limits that change; null removes one. */
export function changesOf({ concurrency, adaptive, retries, ...others }: LimitChange): Partial<Limits> {
  const given: Readonly<Record<string, unknown>> = others;
  const shown = OTHERS.map(({ stored, name, shown: { of = (value) => value } }) => {
    const value = given[stored];
    if (value === undefined) return [name, undefined];
    return [name, value === 'none' ? null : of(value as never)];
  });
  const all = {
    concurrency,
    auto: concurrency === undefined ? adaptive : adaptive === true,
    retries,
    ...Object.fromEntries(shown),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
