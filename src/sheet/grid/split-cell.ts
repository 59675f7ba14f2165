// The values in one cell: `1,2,3`, `100-103`, `["a","b"]`, or addresses.

import { integerFrom } from '../../batch/digits.ts';
import { readJson } from '../json/json-text.ts';

/** More in one cell are most likely no list. */
export const CELL_VALUES_MAX = 10_000;

/** The first of these that a cell has separates its values, so that texts may have commas. */
const SEPARATORS = ['\n', ';', '|', ','] as const;
/** Addresses have commas of their own; `a.png (https://…),b.png (https://…)` is how Airtable writes several. */
const BEFORE_ADDRESS = /[\s,;|]+(?=(?:https?|s3|file):\/\/)|(?<=\))\s*,\s*(?=[^,]*\(https?:\/\/)/;

/** At most one more than {@link CELL_VALUES_MAX}. `isJson`: integers are numbers, as in the other rows of a JSON sheet. */
export function valuesIn(cell: unknown, isJson: boolean): readonly unknown[] {
  if (Array.isArray(cell)) return cell.length === 0 ? [undefined] : (cell as readonly unknown[]);
  if (typeof cell !== 'string') return [cell];
  const listed = listIn(cell.trim());
  if (listed !== undefined) return isJson ? listed : listed.map(textOf);
  const parts = partsOf(cell);
  const [only] = parts;
  if (only === undefined || (parts.length === 1 && !RANGE.test(only))) return [cell];
  const values: string[] = [];
  for (const part of parts) {
    values.push(...countedIn(part));
    if (values.length > CELL_VALUES_MAX) break;
  }
  return isJson ? values.map((value) => integerFrom(value) ?? value) : values;
}

function listIn(text: string): readonly unknown[] | undefined {
  const read = text.startsWith('[') ? readJson(text) : undefined;
  const value = read !== undefined && 'value' in read ? read.value : undefined;
  return Array.isArray(value) && value.length > 0 ? (value as readonly unknown[]) : undefined;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

function partsOf(cell: string): readonly string[] {
  const separator = cell.includes('://')
    ? BEFORE_ADDRESS
    : (SEPARATORS.find((one) => cell.includes(one)) ?? ',');
  return cell
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const RANGE = /^(\d{1,19})\s*[-–]\s*(\d{1,19})$/;

function countedIn(part: string): readonly string[] {
  const [, from = '', to = ''] = RANGE.exec(part) ?? [];
  if (from === '' || BigInt(from) > BigInt(to)) return [part];
  const length = Number(BigInt(to) - BigInt(from)) + 1;
  return Array.from({ length: Math.min(length, CELL_VALUES_MAX + 1) }, (_, at) =>
    String(BigInt(from) + BigInt(at)),
  );
}
