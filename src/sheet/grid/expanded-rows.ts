// Expands the rows of a sheet into the rows of a batch: filters them (`where`), splits cells (`split`), and
// multiplies rows by a grid and by repeats (`repeat`). Rows are streamed: no state is kept between them.

import { integerFrom } from '../../host/formats/exact-json.ts';
import { MAX_REPEAT } from '../../options/batch-kinds.ts';
import { problem } from '../../errors/error.ts';
import { fingerprint } from '../row-keys.ts';
import type { SheetOptions } from '../sheet-source.ts';
import {
  cellText,
  type Column,
  type RecordFault,
  shortened,
  spotOf,
  type SheetRecord,
} from '../sheet-record.ts';
import { UnclearCell } from '../where/compared-cell.ts';
import { countIn } from '../number-signs.ts';
import { parseWhere } from '../where/where.ts';
import { readJson } from '../json/json-text.ts';
import { count } from '../../options/text/printed-numbers.ts';

export const isExpanded = ({ where, split, grid, repeat }: SheetOptions): boolean =>
  [where, split, grid, repeat].some((option) => option !== undefined);

/** Columns that rows get in addition to the sheet's: axes, and drawn seeds. */
const addedColumns = ({ grid = {}, repeat }: Pick<SheetOptions, 'grid' | 'repeat'>): readonly string[] => [
  ...Object.keys(grid),
  ...(repeat?.seed?.isAdded ? [repeat.seed.column] : []),
];

export const withAdded = (own: readonly Column[], options: SheetOptions): readonly Column[] => [
  ...own,
  ...addedColumns(options).map((name, at) => ({
    name,
    line: own[0]?.line ?? 1,
    column: own.length + at + 1,
  })),
];

/** How many of these columns the sheet itself has. */
export const ownWidth = (options: SheetOptions, names: readonly string[]): number =>
  names.length - addedColumns(options).length;

/** Whether a row of the sheet is a row of the batch; or why that is unclear. */
export function whereOf(
  { where, decimalComma }: Pick<SheetOptions, 'where' | 'decimalComma'>,
  own: readonly string[],
  numbers?: Set<string>,
): (record: SheetRecord) => boolean | RecordFault {
  if (where === undefined) return () => true;
  const isMet = parseWhere(where, own, { decimalComma, ...(numbers && { numbers }) });
  const at = new Map(own.map((name, index) => [name, index]));
  return (record) => {
    try {
      return isMet((column) => cellText(record.cells[at.get(column) ?? -1]));
    } catch (error) {
      if (!(error instanceof UnclearCell)) throw error;
      const { column, message: what, hint = '', correction } = error;
      return { ...spotOf(record, at.get(column) ?? 0, column), what, hint, correction };
    }
  };
}

/** `isSurveyed`: yields each row of the sheet once, with the first of its values. */
export async function* expandedRows(
  records: AsyncIterable<SheetRecord>,
  options: SheetOptions,
  names: readonly string[],
  isSurveyed: boolean,
): AsyncGenerator<SheetRecord> {
  const own = ownWidth(options, names);
  const isMet = whereOf(isSurveyed ? {} : options, names.slice(0, own));
  const { split, grid, repeat } = options;
  const steps = [
    ...(split ?? []).map((column) => splitStep(names.indexOf(column), column)),
    ...(grid === undefined ? [] : [gridStep(grid, names)]),
    ...(repeat === undefined ? [] : [repeatStep(options, names)]),
  ];
  const [first] = steps;
  const step: ExpansionStep =
    steps.length === 1 && first !== undefined ? first : (record) => stepped(record, steps, 0);
  let [seen, kept] = [0, 0];
  for await (const record of records) {
    seen += 1;
    const isUnread =
      record.fault !== undefined && (record.members === undefined || record.cells.length === 0);
    const is = isUnread || isMet(record);
    if (is === false) continue;
    kept += 1;
    const used = is === true ? record : { ...record, fault: is };
    if (first === undefined || used.fault !== undefined) yield used;
    else
      for (const row of step({ ...used, own })) {
        yield row;
        if (isSurveyed) break;
      }
  }
  if (seen > 0 && kept === 0)
    throw problem('E550', {
      what: `no row of the sheet meets --where ${options.where}`,
      hint: 'texts are compared letter for letter; correct the condition, or leave it out',
    });
}

type ExpansionStep = (record: SheetRecord) => Iterable<SheetRecord>;

function* stepped(record: SheetRecord, steps: readonly ExpansionStep[], at: number): Generator<SheetRecord> {
  const step = steps[at];
  if (step === undefined || record.fault !== undefined) yield record;
  else for (const expanded of step(record)) yield* stepped(expanded, steps, at + 1);
}

/** A copy with another cell, and another end of its key. */
function withCell(record: SheetRecord, index: number, value: unknown, keyEnd = record.keyEnd): SheetRecord {
  const cells = [...record.cells];
  while (cells.length < index) cells.push(undefined);
  cells[index] = value;
  const row = keyEnd === undefined ? { ...record, cells } : { ...record, cells, keyEnd };
  if (record.marks?.has(index) !== true) return row;
  const marks = new Map(record.marks);
  marks.delete(index);
  return { ...row, marks };
}

const endOf = ({ keyEnd = '' }: SheetRecord, end: number | string): string => `${keyEnd}-${end}`;

const faulty = (
  record: SheetRecord,
  index: number,
  name: string,
  what: string,
  hint: string,
): SheetRecord => ({
  ...record,
  fault: { ...spotOf(record, index, name), what, hint },
});

const splitStep = (index: number, name: string): ExpansionStep =>
  function* split(record) {
    const values = valuesIn(record.cells[index], record.members !== undefined);
    if (values.length > MAX_CELL_VALUES) {
      const what = `a cell of column "${name}" has more than ${count(MAX_CELL_VALUES)} values`;
      return yield faulty(record, index, name, what, 'give them as rows of their own');
    }
    const seen = new Set<string>();
    const again = values.map(cellText).find((text) => seen.size === seen.add(text).size);
    if (again !== undefined) {
      const what = `a cell of column "${name}" has ${JSON.stringify(shortened(again))} twice`;
      return yield faulty(record, index, name, what, 'remove one of them: each value runs once');
    }
    for (const value of values) {
      const text = cellText(value);
      yield withCell(record, index, value, text.trim() === '' ? undefined : endOf(record, labelOf(text)));
    }
  };

function gridStep(grid: NonNullable<SheetOptions['grid']>, names: readonly string[]): ExpansionStep {
  const axes = Object.entries(grid).map(([name, values]) => {
    return { index: names.indexOf(name), values };
  });
  const allLabels = labelsOf(axes.map(({ values }) => values));
  return function* combined(record) {
    const indexes = axes.map(() => 0);
    for (;;) {
      let row = record;
      for (const [nth, { index, values }] of axes.entries()) {
        const at = indexes[nth] ?? 0;
        row = withCell(row, index, values[at], endOf(row, allLabels[nth]?.[at] ?? ''));
      }
      yield row;
      // Like the digits of a number: the last axis changes first.
      let nth = axes.length - 1;
      while (nth >= 0 && (indexes[nth] ?? 0) + 1 === axes[nth]?.values.length) indexes[nth--] = 0;
      if (nth < 0) return;
      indexes[nth] = (indexes[nth] ?? 0) + 1;
    }
  };
}

const MAX_LABEL = 24;

const plainLabel = (value: string): string =>
  value
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._+=]+/gu, '-')
    .replaceAll(/^[-.]+|(?<![-.])[-.]+$/g, '');

/** How a key names one of the values in a cell: by the value alone, so that it stays when the others change. */
function labelOf(value: string): string {
  const label = plainLabel(value);
  if (label === value && label.length <= MAX_LABEL && label === label.toLowerCase()) return label;
  return [label.slice(0, MAX_LABEL), fingerprint(value).slice(0, 6)].filter(Boolean).join('-');
}

/** More combinations are not compared. */
const MAX_COMPARED = 10_000;

/** How keys name the values of axes: by themselves, or where two would have one name or one is too long for it, by their numbers. */
function labelsOf(axes: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const numbered = axes.map((values) => values.map((_, at) => String(at + 1)));
  const labels = axes.map((values, nth) => {
    const own = values.map(plainLabel);
    const isReadable = isDistinct(own) && own.every((label) => label !== '' && label.length <= MAX_LABEL);
    return isReadable ? own : (numbered[nth] ?? []);
  });
  const hyphened = labels.map((own) => own.some((label) => label.includes('-')));
  // Without a hyphen in them, it is clear where each label ends.
  if (hyphened.filter(Boolean).length < 2) return labels;
  const combinations = labels.reduce((product, own) => product * own.length, 1);
  const ends = (): readonly string[] =>
    labels.reduce<readonly string[]>(
      (prefixes, own) => prefixes.flatMap((end) => own.map((label) => `${end}-${label}`)),
      [''],
    );
  return combinations <= MAX_COMPARED && isDistinct(ends())
    ? labels
    : labels.map((own, nth) => (hyphened[nth] ? (numbered[nth] ?? []) : own));
}

/** Case-insensitive, as file names are on some machines. */
const isDistinct = (labels: readonly string[]): boolean =>
  new Set(labels.map((label) => label.toLowerCase())).size === labels.length;

/** A seed has at most 64 bits. */
const MAX_SEED = 2n ** 64n - 1n;

function repeatStep(options: SheetOptions, names: readonly string[]): ExpansionStep {
  const { by, seed } = options.repeat as NonNullable<SheetOptions['repeat']>;
  const column = typeof by === 'string' ? names.indexOf(by) : -1;
  const index = seed === undefined ? -1 : names.indexOf(seed.column);
  const left = new Set([...options.drop, options.keyColumn, options.gpuColumn]);
  // Sorted by name and without empty cells, so that a sheet with moved or further columns has the same seeds.
  const drawnFrom = names
    .slice(0, ownWidth(options, names))
    .filter((name) => !left.has(name) && name !== by && name !== seed?.column)
    .toSorted()
    .map((name) => names.indexOf(name));
  return function* repeated(record) {
    const times = typeof by === 'number' ? by : timesIn(record.cells[column]);
    if (times === undefined) {
      const what = `${JSON.stringify(shortened(cellText(record.cells[column])))} in column "${by}" is not a number of runs`;
      const hint = `a whole number from 1 to ${count(MAX_REPEAT)}; to leave out rows with 0: --where "${by} > 0"`;
      return yield faulty(record, column, String(by), what, hint);
    }
    const isDrawn = (text: string): boolean => text === '' || options.null?.includes(text) === true;
    const first = seed === undefined ? undefined : firstSeed(record, index, { ...seed, isDrawn }, drawnFrom);
    // The layout reports the fault of the cell.
    if (first === 'wrong') return yield record;
    if (first !== undefined && first + BigInt(times) - 1n > MAX_SEED) {
      const what = `${times} runs from seed ${first} on need seeds of more than 64 bits`;
      return yield faulty(record, index, seed?.column ?? '', what, 'give a smaller first seed');
    }
    for (let nth = 0; nth < times; nth += 1) {
      const keyEnd = endOf(record, nth + 1);
      if (first === undefined) yield { ...record, keyEnd };
      else yield withCell(record, index, seedIn(record, index, first + BigInt(nth)), keyEnd);
    }
  };
}

/** In a column of a JSON sheet, the seed is a number. */
function seedIn({ members, own = 0 }: SheetRecord, index: number, seed: bigint): unknown {
  return members !== undefined && index < own ? integerFrom(String(seed)) : String(seed);
}

/** An empty cell is one run. */
function timesIn(cell: unknown): number | undefined {
  const text = cellText(cell).trim();
  if (text === '') return 1;
  const times = countIn(text) ?? 0;
  return times >= 1 && times <= MAX_REPEAT ? times : undefined;
}

type CountedSeed = NonNullable<NonNullable<SheetOptions['repeat']>['seed']> & {
  /** Whether a cell means any seed, as an empty one does: `-1`, `random`. */
  readonly isDrawn: (text: string) => boolean;
};

/** A missing seed is derived from the values that the row sends, so that the same row gets the same seed. */
function firstSeed(
  { cells, marks }: SheetRecord,
  index: number,
  { first, from = 0, below, isDrawn }: CountedSeed,
  drawnFrom: readonly number[],
): bigint | 'wrong' {
  if (first !== undefined) return BigInt(first);
  const text = (marks?.get(index)?.raw ?? cellText(cells[index])).trim().replace(/\.0+$/, '');
  if (isDrawn(text) && (text !== '' || marks?.has(index) !== true)) {
    const sent = drawnFrom.map((at) => cellText(cells[at])).filter((cell) => cell.trim() !== '');
    return BigInt(from) + (BigInt(`0x${fingerprint(JSON.stringify(sent))}`) % BigInt(below - from));
  }
  return /^-?\d+$/.test(text) && UNREADABLE[marks?.get(index)?.is ?? ''] !== true ? BigInt(text) : 'wrong';
}

/** The layout refuses these. */
const UNREADABLE: Readonly<Record<string, true>> = {
  date: true,
  error: true,
  uncalculated: true,
  inexact: true,
};

/** A cell with more values is most likely not a list. */
const MAX_CELL_VALUES = 10_000;

/** The first separator that occurs in a cell separates its values, so that texts may contain commas. */
const SEPARATORS = ['\n', ';', '|', ','] as const;
/** Addresses have commas of their own; `a.png (https://…),b.png (https://…)` is how Airtable writes several. */
const BEFORE_ADDRESS = /(?<![\s,;|])[\s,;|]+(?=(?:https?|s3|file):\/\/)|(?<=\))\s*,\s*(?=[^,]*\(https?:\/\/)/;

/** At most one more than {@link MAX_CELL_VALUES}. `isJson`: integers are numbers, as in the other rows of a JSON sheet. */
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
    if (values.length > MAX_CELL_VALUES) break;
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
    : (SEPARATORS.find((candidate) => cell.includes(candidate)) ?? ',');
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
  return Array.from({ length: Math.min(length, MAX_CELL_VALUES + 1) }, (_, at) =>
    String(BigInt(from) + BigInt(at)),
  );
}
