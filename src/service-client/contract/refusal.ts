// Converts zod's validation errors into the service's format: one entry per problem, with the texts of the library that validates
// in the real service. Every schema of this folder can use it.

import type { z } from 'zod';
import type { problemShown, AnswerOf } from './shown.ts';

/** An entry of `detail`. */
export type Refusal = AnswerOf<typeof problemShown>;
type Words = Pick<Refusal, 'type' | 'msg' | 'ctx'>;
type Issue = z.core.$ZodIssue;
type RequestPart = 'body' | 'path' | 'query';

const UUID_TYPE: Words = { type: 'uuid_type', msg: 'UUID input should be a string, bytes or UUID object' };
const BODY_TYPE: Words = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};
const MISSING: Words = { type: 'missing', msg: 'Field required' };
const BOOL_PARSING: Words = {
  type: 'bool_parsing',
  msg: 'Input should be a valid boolean, unable to interpret input',
};
const INT_PARSING: Words = {
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
};
const BY_TYPE: Readonly<Record<string, Words>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  number: INT_PARSING,
  int: INT_PARSING,
};
const OTHER: Words = { type: 'value_error', msg: 'Value error' };

export const missingAt = (...loc: Refusal['loc']): Refusal => ({ ...MISSING, loc, input: null });
export const emptyBody: Refusal = missingAt('body');
export const notAnObject = (input: unknown): Refusal => ({ ...BODY_TYPE, loc: ['body'], input });
/** A value that the schema accepts and the service refuses. */
export const badValue = (loc: Refusal['loc'], input: unknown, why: string): Refusal => ({
  type: 'value_error',
  loc,
  msg: `Value error, ${why}`,
  input,
});
export const brokenJson = (offset: number, error: string): Refusal => ({
  type: 'json_invalid',
  loc: ['body', offset],
  msg: 'JSON decode error',
  input: {},
  ctx: { error },
});

const MAX_ENTRIES = 100;

/** The entries for the first wrong values, and one entry that counts the remaining ones: a body may have a million of them. */
export function listed<Wrong>(
  wrongValues: readonly Wrong[],
  entriesFor: (wrong: Wrong) => readonly Refusal[],
  most = MAX_ENTRIES,
): readonly Refusal[] {
  const entries = wrongValues.slice(0, most).flatMap(entriesFor);
  const further = wrongValues.length - most;
  return further > 0
    ? [...entries, badValue(['body'], null, `${further} further problems are not listed`)]
    : entries;
}

/** The types that a value of `inputs` may have, each with its error. */
const SCALARS = [
  ['str', 'string_type', 'Input should be a valid string'],
  ['int', 'int_type', 'Input should be a valid integer'],
  ['float', 'float_type', 'Input should be a valid number'],
  ['bool', 'bool_type', 'Input should be a valid boolean'],
  ['list[any]', 'list_type', 'Input should be a valid list'],
] as const;

/** Inputs that are null or objects. The service refuses each with five entries. */
export const nestedInputs = (inputs: Readonly<Record<string, unknown>>): readonly Refusal[] =>
  listed(
    Object.entries(inputs).filter(
      ([, value]) => value === null || (isObject(value) && !Array.isArray(value)),
    ),
    ([name, input]) =>
      SCALARS.map(([kind, type, msg]) => ({ type, loc: ['body', 'inputs', name, kind], msg, input })),
    MAX_ENTRIES / SCALARS.length,
  );

// Numbers with many digits are raw JSON objects in JavaScript, but numbers on the wire.
const isObject = (value: unknown) => typeof value === 'object' && !JSON.stringify(value).match(/^-?[\d.]/);

/** zod's issues with `input`, in the service's format. */
export const refusalsOf = (error: z.ZodError, part: RequestPart, input: unknown): readonly Refusal[] =>
  listed(error.issues, (issue) => [refusalOf(issue, part, input)]);

function refusalOf(issue: Issue, part: RequestPart, body: unknown): Refusal {
  const input = issue.path.reduce(member, body);
  const words = wordingOf(issue, input, part);
  const loc = [part, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  // For a missing field, the real service shows the object that lacks it.
  const shown = words === MISSING ? issue.path.slice(0, -1).reduce(member, body) : input;
  return {
    type: words.type,
    loc,
    msg: words.msg,
    input: shown ?? null,
    ...(words.ctx && { ctx: words.ctx }),
  };
}

const member = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;

function wordingOf(issue: Issue, input: unknown, part: RequestPart): Words {
  if (issue.path.length === 0) return BODY_TYPE;
  if (input === undefined) return MISSING;
  if (issue.path.at(-1) === 'deployment_id' && typeof input !== 'string') return UUID_TYPE;
  switch (issue.code) {
    case 'invalid_type':
      return BY_TYPE[issue.expected] ?? OTHER;
    case 'invalid_format':
      return uuidWords(typeof input === 'string' ? input : '');
    case 'invalid_value':
      return part === 'query' ? BOOL_PARSING : enumWords(issue.values.map(String));
    case 'too_small':
      return boundWords('greater_than_equal', 'greater than or equal to', 'ge', issue.minimum);
    case 'too_big':
      return boundWords('less_than_equal', 'less than or equal to', 'le', issue.maximum);
    case 'unrecognized_keys':
    case 'not_multiple_of':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return OTHER;
  }
}

function uuidWords(text: string): Words {
  const stray = /[^0-9a-fA-F-]/.exec(text);
  const error = stray
    ? `invalid character: expected [0-9a-fA-F-], found \`${stray[0]}\` at ${stray.index + 1}`
    : `invalid length: expected length 36 for a hyphenated UUID, found ${text.length}`;
  return { type: 'uuid_parsing', msg: `Input should be a valid UUID, ${error}`, ctx: { error } };
}

function enumWords(values: readonly string[]): Words {
  const quoted = values.map((value) => `'${value}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
}

function boundWords(type: string, words: string, key: string, bound: number | bigint): Words {
  return { type, msg: `Input should be ${words} ${bound}`, ctx: { [key]: Number(bound) } };
}
