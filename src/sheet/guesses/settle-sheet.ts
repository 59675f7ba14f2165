// Turns the guesses about a sheet into options, so that everything that reads it later guesses nothing.

import { GPUS } from '../../options/gpu.ts';
import { list, nearest, problem, RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { InputType } from '../../run-service/contract/deployment.ts';
import { mapColumns, type ColumnMapping } from '../column-mapping.ts';
import { settleReading } from './guess-reading.ts';
import { areOneSetting, isTellingSetting, nameProper } from './input-names.ts';
import { rowGuesses, refuseRows, hiddenRows, sheetGuess } from './guess-rows.ts';
import { type Guess, NOTHING, type Part, said, type Settled, toConfirm, plainName } from './guess.ts';
import type { LeftOutRows } from '../left-out-rows.ts';
import { settleRows } from '../grid/settle-rows.ts';
import { whereOf } from '../grid/expanded-rows.ts';
import { columnsOf, surveyedRecords } from '../read-records.ts';
import { isSkipped, type InputKind, type SheetOptions } from '../sheet-options.ts';
import type { Column } from '../sheet-record.ts';
import type { SheetSource } from '../sheet-source.ts';
import { Survey, type BadGpu, type NumberSurvey } from './survey.ts';
import { oneOf } from '../../errors/sheet-codes.ts';
import { ownColumns } from '../result-columns.ts';
import { namesInTemplates } from '../templates.ts';

// Guesses what the columns of a sheet mean, from their names. Nothing is guessed about a column that an option names.

type MatchedColumns = Settled & {
  /** Columns without a meaning, or all whose meaning is not known; and those of them that may name the rows, the best first. */
  readonly data: readonly string[];
  readonly keys: readonly string[];
};

/** Names of columns that name rows. */
const KEYS = ['sku', 'id', 'key', 'article', 'name', 'filename'] as const;

/** Two letters may be wrong. */
const SLIP = 2;

/** `inputs`: those of the deployment; without them, every column is an input. `isAsked`: whether it requires one. Throws E208 for two columns of one input. */
function matchColumns(
  names: readonly string[],
  options: SheetOptions,
  inputs: readonly string[] | undefined,
  isAsked: boolean,
): MatchedColumns {
  const taken = new Set([
    ...Object.values(options.map),
    ...options.drop,
    options.gpuColumn,
    options.keyColumn,
  ]);
  for (const name of namesInTemplates(options.set, names))
    if (inputs?.includes(name) !== true) taken.add(name);
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
  // A sheet without any column of the deployment is another sheet: what it lacks is said, or that nothing of it is known.
  const isOther = matched.size + Object.keys(options.map).length + set.size === 0;
  if (isOther)
    return isAsked
      ? { ...unmatched, options: { ...unmatched.options, drop: [...options.drop, ...free] } }
      : unmatched;
  const data = free.filter((name) => !matched.has(name));
  return {
    options: {
      ...options,
      ...gpu.options,
      map: { ...options.map, ...map },
      drop: [...options.drop, ...data],
    },
    guesses: [...gpu.guesses, ...guesses, ...withoutEffect(data, inputs)],
    data,
    keys: options.keyColumn === undefined ? keysIn(data) : [],
  };
}

type Matches = { readonly map: Record<string, string>; readonly guesses: readonly Guess[] };

function matchedIn(free: readonly string[], wanted: readonly string[]): Matches {
  const map: Record<string, string> = {};
  const guesses: Guess[] = [];
  for (const input of wanted) {
    const exact = free.filter((name) => plainName(name) === plainName(input));
    const alike = exact.length > 0 ? exact : free.filter((name) => nameProper(name) === nameProper(input));
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
    const open = spelt.filter((name) => !Object.hasOwn(map, name));
    const input =
      open.find((name) => isSlip(column, name)) ?? only(open.filter((name) => areOneSetting(column, name)));
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

/** Three of four letters are right, and the first one: `weight` is no `height`. */
function isSlip(column: string, input: string): boolean {
  const [wrong, right] = [nameProper(column), nameProper(input)];
  const quarter = Math.floor(Math.max(wrong.length, right.length) / 4);
  return wrong[0] === right[0] && nearest(wrong, [right], Math.min(SLIP, quarter)) !== undefined;
}

const only = <T>(all: readonly T[]): T | undefined => (all.length === 1 ? all[0] : undefined);

/** A setting that the deployment does not have changes nothing, which its user may not know. */
const withoutEffect = (data: readonly string[], inputs: readonly string[]): readonly Guess[] =>
  data
    .filter((name) => isTellingSetting(name) && !inputs.some((input) => areOneSetting(name, input)))
    .map((name) =>
      toConfirm(
        'columns',
        `column "${name}" has no effect: the deployment has no such input`,
        '--drop',
        name,
      ),
    );

/** The message about columns without a meaning. */
function keptAsData(data: readonly string[]): readonly Guess[] {
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

/** `problems`: errors that say more than the layout could. A sheet with one of them is refused. */
export type SettledSheet = Settled & {
  readonly problems: readonly RunsheetError[];
  /** The names of its columns; none if they cannot be read, or if nothing is guessed. */
  readonly columns: readonly string[];
};

/**
 * Throws E102 for an encoding or a separator that cannot be guessed, E112 for rows without inputs, and E208. Other errors are left to
 * the layout, which shows them with their lines. JSON is written by programs, so nothing is guessed about it.
 * `leftOut`: what an earlier save left out needs no confirmation.
 */
export async function settleSheet(
  source: SheetSource,
  given: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
  leftOut?: LeftOutRows,
): Promise<SettledSheet> {
  if (given.format === 'json' || given.format === 'jsonl')
    return { ...(await settleRows(source, given, inputTypes)), problems: [], columns: [] };
  const inputs = inputTypes?.map(({ name }) => name);
  const reads = await settleReading(source, given, inputs);
  const rows = await settleRows(source, reads.options, inputTypes);
  const read = { options: rows.options, guesses: [...reads.guesses, ...rows.guesses] };
  const columns = await leftToLayout(columnsOf(source, read.options));
  const sheet = await sheetGuess(
    source,
    given,
    columns?.map(({ name }) => name),
    inputs,
  );
  const reading = {
    options: { ...read.options, ...sheet.options },
    guesses: [...sheet.guesses, ...read.guesses],
  };
  if (columns === undefined) return { ...reading, problems: [], columns: [] };
  const names = columns.map(({ name }) => name);
  const isAsked = inputTypes?.some(({ required }) => required) ?? false;
  const matched = matchColumns(names, reading.options, inputs, isAsked);
  const guesses = [...reading.guesses, ...matched.guesses];
  const values = await leftToLayout(settleValues(source, matched, { columns, inputTypes, reading, leftOut }));
  if (values === undefined) return { options: matched.options, guesses, problems: [], columns: names };
  const { gpuColumn, keyColumn } = values.options;
  // Without declared inputs, columns without another meaning are inputs.
  const data = inputs ? matched.data.filter((name) => name !== gpuColumn && name !== keyColumn) : [];
  return { ...values, columns: names, guesses: [...guesses, ...values.guesses, ...keptAsData(data)] };
}

/** The codes that are not left to the layout. */
const OWN: ReadonlySet<string> = new Set(['E112']);

async function leftToLayout<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RunsheetError && !OWN.has(error.code)) return undefined;
    throw error;
  }
}

type Known = {
  readonly columns: readonly Column[];
  readonly inputTypes: readonly InputType[] | undefined;
  readonly reading: Settled;
  readonly leftOut: LeftOutRows | undefined;
};

async function settleValues(
  source: SheetSource,
  { options, data, keys }: MatchedColumns,
  { columns, inputTypes, reading, leftOut }: Known,
): Promise<Omit<SettledSheet, 'columns'>> {
  const plan = mapColumns(source.name, columns, options, inputTypes);
  const survey = new Survey({ plan, keys, data });
  const names = columns.map(({ name }) => name);
  const { limit = Number.POSITIVE_INFINITY, skipRows, hidden, ...whole } = options;
  const isMet = whereOf(options, names);
  await survey.read(surveyedRecords(source, whole, names), {
    most: limit,
    hasTotals: skipRows?.length !== 0,
    isLeftOut: ({ line, isHidden, cells }) =>
      isSkipped(options, line) ||
      (hidden === 'skip' && isHidden === true) ||
      (cells !== undefined && !isMet({ cells })),
  });
  refuseRows(source.name, survey, options);
  const parts = [
    await hiddenRows(source, options),
    rowGuesses(survey, options, leftOut),
    keyGuess(survey, keys, options, inputTypes !== undefined),
    gpuGuesses(survey, options, inputTypes !== undefined),
    numberGuesses(survey, plan, options),
    { guesses: encodingGuess(survey, reading), options: {} },
  ];
  return {
    options: Object.assign({}, options, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: parts.flatMap((part) => part.guesses),
    problems: gpuProblems(names[plan.gpuColumn ?? -1] ?? '', survey),
  };
}

/** E209 for several values; the layout shows the cells of a single one. */
function gpuProblems(column: string, { badGpus }: Survey): readonly RunsheetError[] {
  const [first] = badGpus.values();
  if (badGpus.size < 2 || first === undefined) return [];
  const values = [...badGpus].map(([value, bad]) => {
    const near = nearest(value, GPUS);
    return `${value} ${placesText(bad)}${near === undefined ? '' : ` (nearest: ${near})`}`;
  });
  const [place] = first.places;
  return [problem('E209', { column, values, allowed: GPUS }, place && { place })];
}

/** `in C2, C4 and 3 more`; cells of a CSV are `line:column`. */
function placesText({ count, places }: BadGpu): string {
  const cells = places.map(({ cell, line, column }) => cell ?? `${line}:${column}`).join(', ');
  return `in ${cells}${count > places.length ? ` and ${count - places.length} more` : ''}`;
}

/** If the inputs are not declared, the column may be one. */
function keyGuess(
  { names }: Survey,
  keys: readonly string[],
  { drop }: SheetOptions,
  isDeclared: boolean,
): Part {
  const key = keys.find((name) => !names.has(name));
  if (key !== undefined) {
    const text = `column "${key}" names the rows`;
    const guess = isDeclared
      ? said('key', text, '--key', key)
      : toConfirm('key', `${text}${orInput(key)}`, '--key', key);
    return { options: { keyColumn: key, drop: drop.filter((name) => name !== key) }, guesses: [guess] };
  }
  if (!isDeclared) return NOTHING;
  const [near] = keys;
  const { repeated, empty } = (near !== undefined && names.get(near)) || {};
  if (repeated === undefined && empty === undefined) return NOTHING;
  const why = repeated
    ? `repeats in rows ${repeated.first} and ${repeated.again}`
    : `is empty in row ${empty}`;
  return { options: {}, guesses: [said('key', `column "${near}" ${why}, so it does not name the rows`)] };
}

const orInput = (column: string): string =>
  ` and is no input; to send it as one: --map ${shellWord(`${column}=${column}`)}`;

function gpuGuesses({ gpus, gpuColumns }: Survey, { drop }: SheetOptions, isDeclared: boolean): Part {
  const guesses: Guess[] = [];
  if (gpus.size > 0) {
    const texts = [...gpus].map(([text, gpu]) => `"${text}" → ${gpu}`);
    guesses.push(said('gpu', `GPUs: ${list(texts)}`));
  }
  const [column] = gpuColumns;
  if (column === undefined) return { options: {}, guesses };
  const text = `column "${column}" names the GPU of each row${isDeclared ? '' : orInput(column)}`;
  guesses.push(toConfirm('gpu', text, '--gpu-column', column));
  return { options: { gpuColumn: column, drop: drop.filter((name) => name !== column) }, guesses };
}

function numberGuesses(
  { numbers }: Survey,
  plan: ColumnMapping,
  { decimalComma, types }: SheetOptions,
): Part {
  const untyped = untypedColumns(plan);
  const all = [...numbers];
  const percents = percentGuesses(all, plan, types);
  const guesses = [
    ...all.flatMap(([name, { pointZero }]): readonly Guess[] =>
      pointZero === undefined || untyped.has(name)
        ? []
        : [said('values', `column "${name}": ${pointZero} is read as ${pointZero.replace(/\.0+$/, '')}`)],
    ),
    ...percents.guesses,
  ];
  const isClear = ([, { isAmbiguous, others }]: (typeof all)[number]): boolean =>
    !isAmbiguous && others === 0;
  // A column without a declared type may as well be a text.
  const commas = all.filter((one) => one[1].commas > 0 && (!untyped.has(one[0]) || isClear(one)));
  if (decimalComma !== undefined || commas.length === 0 || !commas.every(isClear))
    return { options: percents.options, guesses };
  const floats = commas.flatMap(([name]) => untyped.get(name) ?? []);
  const text = `numbers have a decimal comma in ${list(commas.map(([name]) => `"${name}"`))}`;
  const flags = ['--decimal-comma', ...floats.flatMap((input) => ['--type', `${input}=float`])];
  const settled = Object.fromEntries(floats.map((input) => [input, 'float' as const]));
  return {
    options: { types: { ...types, ...percents.options.types, ...settled }, decimalComma: true },
    guesses: [...guesses, toConfirm('values', text, ...flags)],
  };
}

/** Column → input, for inputs whose type is not known. */
const untypedColumns = ({ feeds, columns }: ColumnMapping): ReadonlyMap<string, string> =>
  new Map(
    feeds.flatMap(({ input, kind, from }) =>
      kind === 'auto' && 'column' in from ? [[columns[from.column]?.name ?? '', input]] : [],
    ),
  );

/** An input may want 80 for 80 %, unless it takes at most 1 or the user gave its type. */
function percentGuesses(
  all: readonly (readonly [name: string, found: NumberSurvey])[],
  { columns, feeds }: ColumnMapping,
  types: SheetOptions['types'],
): Part {
  const settled: Record<string, InputKind> = { ...types };
  const guesses = all.flatMap(([name, { percent }]): readonly Guess[] => {
    if (percent === 0) return [];
    const text = `column "${name}": percentages are read as fractions, 25 % as 0.25`;
    const flags: string[] = [];
    for (const { input, kind, type, from } of feeds) {
      const isOpen = !Object.hasOwn(types, input) && !((type?.max ?? Number.POSITIVE_INFINITY) <= 1);
      if (!('column' in from) || columns[from.column]?.name !== name || !isOpen || kind === 'auto') continue;
      settled[input] = kind;
      flags.push('--type', `${input}=${kind}`);
    }
    return [flags.length === 0 ? said('values', text) : toConfirm('values', text, ...flags)];
  });
  return { options: { types: settled }, guesses };
}

/** Another encoding would give other letters; some words show whether it is the right one. */
function encodingGuess({ words }: Survey, { guesses }: Settled): readonly Guess[] {
  const guess = guesses.find(({ flags }) => flags.includes('windows-1252'));
  if (guess === undefined || words.size === 0) return [];
  return [toConfirm('encoding', `the letters are right: ${list([...words])}`, ...guess.flags)];
}
