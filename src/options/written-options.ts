// Writes options as a command or a program would, from the stored names and values of a batch.

import type { Repeat, RowRange } from './batch-kinds.ts';
import { OPTIONS, type AnyOption } from './table.ts';

/** `--max-cost` */
export const flagOf = (option: string): string =>
  `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Groups of words, one for each value: `['--map', 'prompt=text']`. */
export function flagsOf(options: object): readonly (readonly string[])[] {
  const values: Readonly<Record<string, unknown>> = { ...options };
  return Object.entries<AnyOption>(OPTIONS).flatMap(([option, { kind, kept = option }]) => {
    const [flag, value] = [flagOf(option), values[kept]];
    if (value === undefined) return [];
    if (kind.type === 'flag') return [[value === true ? flag : `--no-${flag.slice(2)}`]];
    if (kind.type === 'pairs')
      return Object.entries(value as object).map(([name, right]) => [flag, `${name}=${String(right)}`]);
    if (kind.type !== 'texts') return [[flag, textOf(kind.type, value)]];
    const texts = value as readonly string[];
    return kind.joined ? [[flag, texts.join(',')]] : texts.map((text) => [flag, text]);
  });
}

/** The value as the user writes it. */
function textOf(type: AnyOption['kind']['type'], value: unknown): string {
  if (type === 'rowRanges') return rangesText(value as readonly RowRange[]) || 'none';
  if (type === 'rowOrNone') return value === 0 ? 'none' : String(value);
  if (type === 'repeat') {
    const { by, isSame } = value as Repeat;
    return isSame === true ? `same:${by}` : String(by);
  }
  return String(value);
}

/** `4-6,9` */
export const rangesText = (ranges: readonly RowRange[]): string =>
  ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',');

/** Members of an object literal: `map: {"prompt":"text"}`. */
export function membersOf(options: object): readonly string[] {
  const values: Readonly<Record<string, unknown>> = { ...options };
  return Object.entries<AnyOption>(OPTIONS).flatMap(([option, { kind, kept = option }]) =>
    // No row is left out, which is an answer.
    isEmpty(values[kept]) && !(kind.type === 'rowRanges' && Array.isArray(values[kept]))
      ? []
      : [`${option}: ${JSON.stringify(values[kept])}`],
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
