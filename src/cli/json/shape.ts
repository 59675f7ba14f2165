// Gives every document of one noun the same fields: those of its schema, in its order. What a document lacks is null, and what
// the schema does not name is left out, so an internal field cannot reach a script by accident.

import { z } from 'zod';
import { STORED_LIMITS, type LimitChange, type OptionalLimits } from '../../options/limits.ts';

type Nulls<T> = { [K in keyof T]-?: null extends T[K] ? K : undefined extends T[K] ? K : never }[keyof T];

/** What `shaped` makes a T of: nullable fields may be missing. */
export type Given<T> = unknown extends T
  ? T
  : T extends readonly (infer U)[]
    ? readonly Given<U>[]
    : T extends object
      ? { readonly [K in Exclude<keyof T, Nulls<T>>]: Given<T[K]> } & {
          readonly [K in Nulls<T>]?: Given<Exclude<T[K], null>> | null | undefined;
        }
      : T;

export const shaped = <S extends z.ZodType>(schema: S, given: Given<z.output<S>>): z.output<S> =>
  filled(schema, given) as z.output<S>;

function filled(schema: z.core.$ZodType, given: unknown): unknown {
  if (schema instanceof z.ZodNullable) return given == null ? null : filled(schema.unwrap(), given);
  if (schema instanceof z.ZodOptional)
    return given === undefined ? undefined : filled(schema.unwrap(), given);
  if (schema instanceof z.ZodArray)
    return (given as readonly unknown[]).map((one) => filled(schema.element, one));
  if (schema instanceof z.ZodObject) return fieldsOf(schema, given as Readonly<Record<string, unknown>>);
  if (schema instanceof z.ZodRecord)
    return Object.fromEntries(
      Object.entries(given as object).map(([name, one]) => [name, filled(schema.valueType, one)]),
    );
  return given;
}

const fieldsOf = ({ shape }: z.ZodObject, given: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    Object.entries(shape)
      .map(([name, field]) => [name, filled(field, given[name])] as const)
      .filter(([, value]) => value !== undefined),
  );

export const count = z.number().int();
export const amount = z.number();
export const time = z.iso.datetime();

export const timeOf = (ms: number): string => new Date(ms).toISOString();
export const usdOf = (nano: number): number => nano / 1e9;

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
