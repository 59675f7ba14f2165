// Guesses what the columns of a sheet mean, from their names. Nothing is guessed about a column that an option names.

import { list, nearest, problem, type RunsheetError } from '../../errors/error.ts';
import { oneOf } from '../../errors/sheet-codes.ts';
import { type Guess, plainName, said, type Settled, toConfirm } from './guess.ts';
import { ownColumns } from '../result-columns.ts';
import type { SheetOptions } from '../sheet-options.ts';

export type MatchedColumns = Settled & {
  /** Columns without a meaning, or all whose meaning is not known; and those of them that may name the rows, the best first. */
  readonly data: readonly string[];
  readonly keys: readonly string[];
};

/** Names of columns that name rows. */
const KEYS = ['sku', 'id', 'key', 'article', 'name', 'filename'] as const;

/** Two letters may be wrong. */
const SLIP = 2;

/** `inputs`: those of the deployment; without them, every column is an input. Throws E208 for two columns of one input. */
export function matchColumns(
  names: readonly string[],
  options: SheetOptions,
  inputs: readonly string[] | undefined,
): MatchedColumns {
  const taken = new Set([
    ...Object.values(options.map),
    ...options.drop,
    options.gpuColumn,
    options.keyColumn,
  ]);
  const own = ownColumns(names).filter((name) => !taken.has(name));
  const set = new Set(Object.keys(options.set));
  const wanted = inputs?.filter((input) => !set.has(input) && !Object.hasOwn(options.map, input));
  const gpu = guessedGpuColumn(own, options, inputs);
  const free = own.filter((name) => name !== gpu.column);
  const unmatched = { options: { ...options, ...gpu.options }, guesses: gpu.guesses, data: [], keys: [] };
  // Every column may be an input, so whatever else it seems to be has to be confirmed.
  if (wanted === undefined || inputs === undefined)
    return { ...unmatched, data: free, keys: options.keyColumn === undefined ? keysIn(free) : [] };
  const { map, guesses } = matchedIn(free, wanted);
  const matched = new Set([...inputs.filter((input) => free.includes(input)), ...Object.values(map)]);
  // A sheet without any column of the deployment is another sheet.
  const isOther = matched.size + Object.keys(options.map).length + set.size === 0;
  if (isOther) return unmatched;
  const data = free.filter((name) => !matched.has(name));
  return {
    options: {
      ...options,
      ...gpu.options,
      map: { ...options.map, ...map },
      drop: [...options.drop, ...data],
    },
    guesses: [...gpu.guesses, ...guesses],
    data,
    keys: options.keyColumn === undefined ? keysIn(data) : [],
  };
}

type Matches = { readonly map: Record<string, string>; readonly guesses: readonly Guess[] };

function matchedIn(free: readonly string[], wanted: readonly string[]): Matches {
  const map: Record<string, string> = {};
  const guesses: Guess[] = [];
  for (const input of wanted) {
    const alike = free.filter((name) => plainName(name) === plainName(input));
    if (alike.length > 1) throw severalColumns(input, alike);
    const [column] = alike;
    if (column === undefined || column === input || wanted.includes(column)) continue;
    map[input] = column;
    guesses.push(said('columns', `column "${column}" is the input ${input}`, '--map', `${input}=${column}`));
  }
  const isTaken = new Set([...Object.keys(map), ...free]);
  const spelt = wanted.filter((input) => !isTaken.has(input));
  const left = free.filter((name) => !wanted.includes(name) && !Object.values(map).includes(name));
  for (const column of left) {
    const input = spelt.find((name) => !Object.hasOwn(map, name) && isSlip(column, name));
    if (input === undefined) continue;
    map[input] = column;
    const text = `column "${column}" is the input ${input}, not data`;
    guesses.push(toConfirm('columns', text, '--map', `${input}=${column}`));
  }
  return { map, guesses };
}

/** E208, with the first of the columns as the one that is meant. */
function severalColumns(input: string, columns: readonly string[]): RunsheetError {
  return problem('E208', { input, columns }, { correction: { add: oneOf({ input, columns }) } });
}

/** Half of a short name may differ by chance. */
function isSlip(column: string, input: string): boolean {
  const half = Math.ceil(Math.min(column.length, input.length) / 2);
  return nearest(plainName(column), [plainName(input)], Math.min(SLIP, half - 1)) !== undefined;
}

/** The message about columns without a meaning. */
export function keptAsData(data: readonly string[]): readonly Guess[] {
  if (data.length === 0) return [];
  const text = `${data.length === 1 ? 'column' : 'columns'} kept as data, sent to no input: ${list(data)}`;
  return [said('columns', text, ...data.flatMap((name) => ['--drop', name]))];
}

function guessedGpuColumn(
  own: readonly string[],
  options: SheetOptions,
  inputs: readonly string[] | undefined,
): { readonly column?: string; readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] } {
  const isSettled = options.gpuColumn !== undefined || inputs?.some((input) => plainName(input) === 'gpu');
  const [column, ...others] = isSettled ? [] : own.filter((name) => plainName(name) === 'gpu');
  if (column === undefined || others.length > 0) return { options: {}, guesses: [] };
  if (column === 'gpu') return { column, options: {}, guesses: [] };
  const guess = said('gpu', `column "${column}" names the GPU of each row`, '--gpu-column', column);
  return { column, options: { gpuColumn: column }, guesses: [guess] };
}

const keysIn = (data: readonly string[]): readonly string[] =>
  KEYS.flatMap((key) => data.filter((name) => plainName(name) === key));
