// The rules of a deployment for the labels of jobs and for filters of its list.

import { Refused } from './api-shapes.ts';

const KEY = /^[A-Za-z0-9_.-]{1,40}$/;
/** Control characters, and those that change the direction of text. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const MAX_PAIRS = 16;
const MAX_VALUE_BYTES = 256;
const MAX_FILTERS = 3;

export type Labels = Readonly<Record<string, string>>;

/** The labels of a submission. Throws `metadata_invalid`. */
export function labelsFrom(metadata: unknown): Labels | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  const refuse = (message: string): never => {
    throw new Refused(422, 'metadata_invalid', message);
  };
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return refuse('metadata must be an object');
  const pairs = Object.entries(metadata);
  if (pairs.length > MAX_PAIRS) return refuse(`metadata has ${pairs.length} pairs`);
  for (const [key, value] of pairs) {
    if (!KEY.test(key)) return refuse(`metadata key ${key}`);
    if (typeof value !== 'string' || FORBIDDEN.test(value) || Buffer.byteLength(value) > MAX_VALUE_BYTES)
      return refuse(`metadata value of ${key}`);
  }
  return metadata as Labels;
}

/** The pairs that a list is filtered by. Throws `invalid_metadata_filter`. */
export function filtersIn(query: URLSearchParams): readonly (readonly [string, string])[] {
  const filters = [...query].flatMap(([name, value]) => {
    const [, key] = /^metadata\[(.*)\]$/.exec(name) ?? [];
    return key === undefined ? [] : [[key, value] as const];
  });
  const isWrong =
    filters.length > MAX_FILTERS ||
    new Set(filters.map(([key]) => key)).size < filters.length ||
    filters.some(([key, value]) => !KEY.test(key) || FORBIDDEN.test(value));
  if (isWrong) throw new Refused(400, 'invalid_metadata_filter');
  return filters;
}
