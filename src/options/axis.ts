// Reads the values of one axis of a grid: `oil,ink`, `1..4`, `["a, b","c"]`, or the list of a program.

import type { Wrong } from './kinds.ts';

/** undefined: it has no values. */
export function axisFrom(name: string, given: unknown, most: number): readonly string[] | Wrong | undefined {
  if (typeof given === 'string' && given.startsWith('@'))
    return { wrong: `${name} names a file`, hint: 'give its lines as a list' };
  const all = Array.isArray(given) ? (given as readonly unknown[]) : listIn(given);
  if (all === undefined || all.length === 0) return undefined;
  const values = new Set<string>();
  for (const one of all) {
    const [first, last] = Array.isArray(given) ? [] : rangeIn(String(one));
    if (first !== undefined && last !== undefined && first > last)
      return {
        wrong: `${name} has ${first}..${last}, which runs backwards`,
        hint: `write ${last}..${first}`,
      };
    const those = first === undefined || last === undefined ? [one] : countedFrom(first, last, most);
    for (const value of those) {
      if (!TYPES.has(typeof value)) return { wrong: `${name} has a value that is neither text nor a number` };
      if (values.has(String(value)))
        return {
          wrong: `${name} has ${String(value)} twice`,
          hint: 'remove one of them: each combination runs once',
        };
      values.add(String(value));
    }
    if (values.size > most)
      return {
        wrong: `${name} has more than ${most.toLocaleString('en-US')} values`,
        hint: 'give them as the sheet, one a row',
      };
  }
  return [...values];
}

const TYPES: ReadonlySet<string> = new Set(['string', 'number']);

/** A text that begins like a list is JSON, so that its values may have commas. */
function listIn(given: unknown): readonly unknown[] | undefined {
  if (typeof given === 'number') return [given];
  if (typeof given !== 'string') return undefined;
  if (!given.trimStart().startsWith('[')) {
    const parts = given.split(',').map((part) => part.trim());
    return parts.includes('') ? undefined : parts;
  }
  try {
    return JSON.parse(given) as readonly unknown[];
  } catch {
    return undefined;
  }
}

const rangeIn = (text: string): readonly bigint[] =>
  /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(text)?.slice(1).map(BigInt) ?? [];

/** One more than `most` at most, which is enough to see that there are too many. */
function countedFrom(first: bigint, last: bigint, most: number): readonly string[] {
  const length = Math.min(Number(last - first), most) + 1;
  return Array.from({ length }, (_, at) => String(first + BigInt(at)));
}
