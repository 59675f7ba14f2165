// Values as people, sheets and servers make them: any language, any length of digits, nothing, and much of it.

import fc from 'fast-check';
import { integerFrom, parseExactly } from '../../src/host/formats/exact-json.ts';

type FieldArbitraries<T> = { readonly [K in keyof T]-?: fc.Arbitrary<Exclude<T[K], undefined>> };
type OptionalIn<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** The fields of a kept type: a new field does not compile until it is here. `optional` may be absent. */
export const recordOf = <T extends object>(
  fields: FieldArbitraries<T>,
  optional: readonly OptionalIn<T>[] = [],
): fc.Arbitrary<T> => {
  const names = Object.keys(fields) as (keyof T)[];
  const requiredKeys = names.filter((field) => !optional.includes(field as never));
  return fc.record(fields, {
    requiredKeys,
    noNullPrototype: true,
  });
};

const WORDS = [
  '',
  'a fox',
  'ein Käuzchen',
  '狐 🦊',
  'she said "no"',
  "it's",
  'a\nb\tc',
  '\\',
  '\u0000',
  '007',
  'null',
  '__proto__',
];

/** Well-formed, as everything is that came through JSON, HTTP or a file. */
export const text = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }).map((any) => any.toWellFormed()),
);
export const name = fc.oneof(
  fc.constantFrom('prompt', '3.seed', 'größe', 'constructor'),
  fc.string({ minLength: 1 }),
);
export const count = fc.maxSafeNat();
export const few = fc.nat({ max: 9 });
export const ms = fc.nat({ max: 4e12 });
export const share = fc.double({ min: 0, max: 1e12, noNaN: true });
export const yes = fc.constant<true>(true);
export const date = fc.nat({ max: 4e12 }).map((at) => new Date(at).toISOString());
export const hex = (length: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));

/** Integers of any length: a seed has 64 bits. */
export const integer = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.constantFrom(
      2n ** 53n,
      -(2n ** 53n),
      2n ** 53n + 1n,
      2n ** 63n - 1n,
      -(2n ** 63n) + 1n,
      2n ** 64n - 1n,
    ),
  )
  .map((any) => integerFrom(String(any)));

/** A value of an input, as a sheet or a program gives it. */
export const scalar: fc.Arbitrary<unknown> = fc.oneof(
  text,
  integer,
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
export const { value: nested } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

export const dictionary = <T>(values: fc.Arbitrary<T>, names = name): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(names, values, { maxKeys: 4, noNullPrototype: true });
export const list = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 4 });
/** Inputs are always read from JSON: of a page, a request or a flag. */
export const inputs = dictionary(fc.oneof(scalar, nested)).map(
  (any) => parseExactly(JSON.stringify(any)) as Readonly<Record<string, unknown>>,
);
