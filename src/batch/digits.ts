// Seeds are 64-bit integers, and a JSON number loses digits above 2^53. Everything in this project that reads or
// writes inputs goes through these two functions, so that an integer arrives digit for digit as it was written.

/** A number kept as its own source text; `JSON.stringify` prints it bare. */
export type RawNumber = { readonly rawJSON: string };

/** Numbers always come with their source text. */
type ReviverContext = { readonly source: string };
type ExactJson = {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(text: string, reviver: (key: string, value: unknown, context: ReviverContext) => unknown): unknown;
};

// The type library of this compiler does not describe rawJSON and the reviver's third argument yet.
const exactJson = JSON as unknown as ExactJson;

const INTEGER = /^-?(0|[1-9][0-9]*)$/;

/** Parses JSON text; integers beyond 2^53 stay exact as {@link RawNumber}. Throws SyntaxError. */
export function parseExactly(text: string): unknown {
  // Fewer than 16 digits in a row always fit, and a reviver makes parsing several times slower.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return exactJson.parse(text, (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(context.source)
      ? exactJson.rawJSON(context.source)
      : value,
  );
}

/** The integer that a text spells, exact at any length; undefined where it spells none (`007`, `1.0`, `1e3`). */
export function integerFrom(text: string): number | RawNumber | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = Number(text);
  return String(value) === text ? value : exactJson.rawJSON(text);
}

export function isRawNumber(value: unknown): value is RawNumber {
  return exactJson.isRawJSON(value);
}
