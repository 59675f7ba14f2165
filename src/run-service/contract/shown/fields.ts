// The fields of the exact schemas. The schemas outside this folder read any service leniently; those in this folder describe
// exactly what the local run service sends, and generate its OpenAPI document.

import { z } from 'zod';

/** The read-only type of an answer that the schema allows. */
export type Shown<Schema extends z.ZodType> = Frozen<z.output<Schema>>;
type Frozen<Value> = unknown extends Value
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
      : Value;

export const uuid = (description: string) => z.guid().meta({ description });
export const text = (description: string) => z.string().meta({ description });
export const textOrNull = (description: string) => z.string().nullable().meta({ description });
export const whole = (description: string) => z.int().nonnegative().meta({ description });
export const freeForm = (description: string) => z.record(z.string(), z.unknown()).meta({ description });

/** ISO 8601 in UTC. */
export const date = (description: string) => z.iso.datetime().meta({ description });
export const dateOrNull = (description: string) => z.iso.datetime().nullable().meta({ description });

/** Seconds with a fraction. */
export const secondsOrNull = (description: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `seconds ${description}; null until then` });
