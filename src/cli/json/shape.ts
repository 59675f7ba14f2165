// Gives every document the fields of its schema, in its order. Missing fields are null, and unknown fields
// are left out, so an internal field cannot reach a script by accident.

import { z } from 'zod';
import { usdOf } from '../../options/text/printed-numbers.ts';
import { STORED_LIMITS, type LimitChange, type OptionalLimits } from '../../options/limits.ts';

type Nulls<T> = { [K in keyof T]-?: null extends T[K] ? K : undefined extends T[K] ? K : never }[keyof T];

/** The input that `shaped` turns into a T: nullable fields may be missing. */
export type ShapedFields<T> = unknown extends T
  ? T
  : T extends readonly (infer U)[]
    ? readonly ShapedFields<U>[]
    : T extends object
      ? { readonly [K in Exclude<keyof T, Nulls<T>>]: ShapedFields<T[K]> } & {
          readonly [K in Nulls<T>]?: ShapedFields<Exclude<T[K], null>> | null | undefined;
        }
      : T;

export const shaped = <S extends z.ZodType>(schema: S, value: ShapedFields<z.output<S>>): z.output<S> =>
  filled(schema, value) as z.output<S>;

function filled(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodNullable) return value == null ? null : filled(schema.unwrap(), value);
  if (schema instanceof z.ZodOptional)
    return value === undefined ? undefined : filled(schema.unwrap(), value);
  if (schema instanceof z.ZodArray)
    return (value as readonly unknown[]).map((element) => filled(schema.element, element));
  if (schema instanceof z.ZodObject) return fieldsOf(schema, value as Readonly<Record<string, unknown>>);
  if (schema instanceof z.ZodRecord)
    return Object.fromEntries(
      Object.entries(value as object).map(([name, member]) => [name, filled(schema.valueType, member)]),
    );
  return value;
}

const fieldsOf = ({ shape }: z.ZodObject, value: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    Object.entries(shape)
      .map(([name, field]) => [name, filled(field, value[name])] as const)
      .filter(([, field]) => field !== undefined),
  );

export const count = z.number().int();
export const amount = z.number();
export const time = z.iso.datetime();

export const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Exactly one of the two is null. */
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

const PLAIN_LIMITS = STORED_LIMITS.filter(
  ({ stored }) => stored !== 'concurrency' && stored !== 'retries',
).map(({ stored, kind }) => ({
  stored,
  name: stored.replace(/Nano$/, 'Usd').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  shown: SHOWN[kind.type] as (typeof SHOWN)[string],
}));

export const limitsSchema = z.object({
  concurrency: count,
  auto: z.boolean().describe('the useful concurrency is found; concurrency is the most'),
  retries: count,
  ...Object.fromEntries(PLAIN_LIMITS.map(({ name, shown }) => [name, shown.schema.nullable()])),
});

type LimitsJson = z.infer<typeof limitsSchema>;

export const limitsOf = ({
  concurrency,
  retries,
  adaptive,
  ...optional
}: OptionalLimits & {
  readonly concurrency: number;
  readonly retries: number;
}): ShapedFields<LimitsJson> => ({
  ...changesOf(optional),
  concurrency,
  retries,
  auto: adaptive !== undefined,
});

/** Only the limits that change; null removes one. */
export function changesOf({
  concurrency,
  adaptive,
  retries,
  ...otherChanges
}: LimitChange): Partial<LimitsJson> {
  const changed: Readonly<Record<string, unknown>> = otherChanges;
  const shown = PLAIN_LIMITS.map(({ stored, name, shown: { of = (value) => value } }) => {
    const value = changed[stored];
    if (value === undefined) return [name, undefined];
    return [name, value === 'none' ? null : of(value as never)];
  });
  const limits = {
    concurrency,
    auto: concurrency === undefined ? adaptive : adaptive === true,
    retries,
    ...Object.fromEntries(shown),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
