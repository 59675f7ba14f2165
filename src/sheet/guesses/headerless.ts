// Recognizes a sheet without a header: its first row is a row like those below it. As names of columns, its cells would be lost.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import type { RecordFields } from '../csv/csv.ts';
import { letterOf } from '../header.ts';
import { MAX_NAME, shortened } from '../sheet-record.ts';
import { isSkipped, type SheetOptions } from '../sheet-source.ts';
import type { LikelyColumns } from './guess.ts';
import { isSetting, nameProper } from './input-names.ts';
import { isValue, textLength } from './sample.ts';

/** Names the most likely column of each of these inputs, by the values of columns. */
type FindLikely = (
  missing: readonly InputType[],
  columns: readonly string[],
  valuesOf: (name: string) => readonly string[],
) => LikelyColumns;

/** Input → column, and the column that names the rows, all from 0. */
type ColumnRoles = { readonly inputs: ReadonlyMap<number, string>; readonly id?: number | undefined };

/** Throws E104 if the first of `rows` is one of them. Nothing is refused if an option names a column, or the row names an input. */
export function refuseNoHeader(
  file: string,
  rows: readonly RecordFields[],
  options: SheetOptions,
  inputTypes: readonly InputType[],
  findLikely: FindLikely,
): void {
  const { headerRow, map, drop, set, keyColumn, gpuColumn } = options;
  const named = [...Object.values(map), ...drop, ...Object.values(set).filter((text) => text.includes('{'))];
  if (headerRow !== undefined || keyColumn !== undefined || gpuColumn !== undefined || named.length > 0)
    return;
  const [first, ...below] = rows.filter(({ line }) => !isSkipped(options, line));
  if (first === undefined || namesInput(first.fields, inputTypes)) return;
  const value = valueIn(first.fields, below);
  if (value === undefined) return;
  const letters = first.fields.map((_, at) => letterOf(at));
  const valuesOf = (letter: string): readonly string[] =>
    [first, ...below].flatMap(({ fields }) => fields[letters.indexOf(letter)]?.trim() || []);
  const id = first.fields.findIndex((text, at) => isNumbered(text, cellsAt(below, at)));
  const likely = findLikely(
    inputTypes.filter(isWanted(options)),
    letters.filter((_, at) => at !== id),
    valuesOf,
  );
  // The first of equally likely texts counts, unless another is much longer: a question shows the others.
  const columnOf = (likelyLetters: string | readonly string[]): number => {
    const texts = [likelyLetters].flat();
    const longest = Math.max(...texts.map((letter) => textLength(valuesOf(letter))));
    return letters.indexOf(texts.find((letter) => textLength(valuesOf(letter)) * 2 >= longest) ?? '');
  };
  const inputs = new Map(Object.entries(likely).map(([input, column]) => [columnOf(column), input]));
  throw noHeader(file, value, { inputs, id: id < 0 ? undefined : id }, first.line);
}

const isWanted =
  ({ set }: SheetOptions) =>
  ({ name, required }: InputType): boolean =>
    required && !Object.hasOwn(set, name);

/** E104 for a first row with this value; the command reads it as a row, with names for the columns that have a role. */
export function noHeader(
  file: string,
  value: string,
  { inputs, id }: ColumnRoles,
  line: number,
): RunsheetError {
  const last = Math.max(...inputs.keys(), id ?? 0);
  const columns = Array.from(
    { length: last + 1 },
    (_, at) => inputs.get(at) ?? (at === id ? 'id' : letterOf(at)),
  );
  const isKnown = inputs.size > 0 && !inputs.has(-1);
  const add = [['--header-row', 'none'] as const, ['--columns', columns.join(',')] as const];
  const what = `the first row seems to be no header: ${JSON.stringify(shortened(value))} is a value`;
  const flags = isKnown ? add.flat().map(shellWord).join(' ') : '--header-row none --columns <names>';
  const hint = `if it is a row: ${flags}; if it is the header: --header-row ${line}`;
  return problem('E104', { what, hint }, { place: { file }, ...(isKnown && { correction: { add } }) });
}

/** A name that no column of a header would have, if its rows were matched to no input. */
export const valueAmong = (names: readonly string[]): string | undefined =>
  (names.filter(isValue).length * 2 >= names.length ? names.find(isValue) : undefined) ??
  names.find((name) => names.length === 1 && /\S \S/.test(name));

function namesInput(fields: readonly string[], inputTypes: readonly InputType[]): boolean {
  const names = new Set(
    inputTypes.flatMap(({ name, fields: own = [], also = [] }) => [name, ...own, ...also]).map(nameProper),
  );
  return fields.some((text) => names.has(nameProper(text)) || isSetting(text) || nameProper(text) === 'gpu');
}

/** Whether the first row is like those below it. */
export const isRow = ([first, ...below]: readonly RecordFields[]): boolean =>
  first !== undefined && valueIn(first.fields, below) !== undefined;

/** A cell of the first row that shows that the row has values. */
function valueIn(first: readonly string[], below: readonly RecordFields[]): string | undefined {
  const texts = first.map((text) => text.trim());
  const isSentences =
    texts.filter(Boolean).length > 1 && texts.every((text, at) => isAlike(text, cellsAt(below, at)));
  return (
    texts.find((text) => text.length > MAX_NAME) ??
    texts.find((text, at) => isNumbered(text, cellsAt(below, at))) ??
    texts.find((text, at) => wordsIn(text) >= SEVERAL_WORDS && texts.indexOf(text) < at) ??
    (isSentences ? texts.find(Boolean) : undefined)
  );
}

const cellsAt = (rows: readonly RecordFields[], at: number): readonly string[] =>
  rows.flatMap(({ fields }) => fields[at]?.trim() || []);

const SEVERAL_WORDS = 3;
const SENTENCE = 4;

const wordsIn = (text: string): number => text.split(/\s+/).length;

/** Whether the text is a sentence above sentences. A question may be the name of a column, as in the answers of a form. */
const isAlike = (text: string, below: readonly string[]): boolean =>
  text === '' ||
  (wordsIn(text) >= SENTENCE &&
    !/[?:]$/.test(text) &&
    below.length > 0 &&
    below.filter((cell) => wordsIn(cell) >= SEVERAL_WORDS).length * 2 >= below.length);

const MAX_ID = 60;

/** Whether the text is `T001` above `T002`. */
function isNumbered(text: string, below: readonly string[]): boolean {
  if (text.length > MAX_ID || below.length === 0 || !/\p{L}/u.test(text) || !/\d/.test(text)) return false;
  const shape = shapeOf(text.trim());
  return below.every((cell) => cell.length <= MAX_ID && cell !== text.trim() && shapeOf(cell) === shape);
}

const shapeOf = (text: string): string => text.replaceAll(/\d+/g, '0');
