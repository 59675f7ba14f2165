// What the exact schemas are made of. The schemas beside this folder read any service leniently; those in it say to the
// letter what the local run service shows, and are what its OpenAPI document is generated from.

import { z } from 'zod';

/** What a function that writes such an answer returns: what the schema allows, and nothing that may be changed. */
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

/** Seconds with their fraction. */
export const secondsOrNull = (description: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `seconds ${description}; null until then` });
