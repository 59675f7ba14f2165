// Parses JSON and integers without losing digits. Seeds are 64-bit integers, and a JSON number loses digits above 2^53, so all
// code that reads or writes inputs uses these functions.

/** A number in its source text; `JSON.stringify` prints it without quotes. */
export type RawNumber = { readonly rawJSON: string };

/** The engine passes the source text for every number. */
type ReviverContext = { readonly source: string };
type ExactJson = {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(text: string, reviver: (key: string, value: unknown, context: ReviverContext) => unknown): unknown;
};

// TypeScript's library does not describe rawJSON and the reviver's third argument yet.
const exactJson = JSON as unknown as ExactJson;

const INTEGER = /^-?(0|[1-9][0-9]*)$/;
/** Digits inside a word, such as those of a hash, do not begin a number. */
const LONG_NUMBER = /(?:^|[\s:,[-])\d{16}/;

/** Parses JSON text and keeps integers beyond 2^53 exact as {@link RawNumber}. Throws SyntaxError. */
export function parseExactly(text: string): unknown {
  // Integers of fewer than 16 digits are always exact, and a reviver makes parsing several times slower.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return exactJson.parse(text, (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(context.source)
      ? exactJson.rawJSON(context.source)
      : value,
  );
}

/**
 * JSON text that `parseExactly` turns back into an equal value. A number beyond 2^53 gets an exponent, because its digits would
 * come back as a {@link RawNumber}, which cannot be compared.
 */
export const exactText = (value: unknown, indent?: number): string => JSON.stringify(value, lossless, indent);

const lossless = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return value;
  if (Object.is(value, -0)) return exactJson.rawJSON('-0');
  return Number.isSafeInteger(value) ? value : exactJson.rawJSON(value.toExponential());
};

/** Negative if `a` is smaller, positive if it is greater. All digits of integers count. */
export function compareNumbers(a: string, b: string): number {
  if (!INTEGER.test(a) || !INTEGER.test(b)) return Number(a) - Number(b);
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** The integer in a text, exact at any length; undefined if the text is not one (`007`, `1.0`, `1e3`). */
export function integerFrom(text: string): number | RawNumber | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : exactJson.rawJSON(text);
}

export function isRawNumber(value: unknown): value is RawNumber {
  return exactJson.isRawJSON(value);
}
