// Turns the guesses about a sheet into options, so that everything that reads it later guesses nothing.

import { GPUS } from '../batch/gpu.ts';
import { list, nearest, problem, RunsheetError } from '../errors/error.ts';
import type { InputType } from '../run-service/contract/deployment.ts';
import { mapColumns, type ColumnMapping } from './column-mapping.ts';
import { keptAsData, matchColumns, type MatchedColumns } from './guess-columns.ts';
import { settleReading } from './guess-reading.ts';
import { type Guess, said, type Settled, toConfirm } from './guess.ts';
import { columnsOf, recordsOf } from './read-records.ts';
import type { InputKind, RowRange, SheetOptions } from './sheet-options.ts';
import type { Column } from './sheet-record.ts';
import type { SheetSource } from './sheet-source.ts';
import { Survey, type NumberSurvey } from './survey.ts';
import { sheetHead } from './xlsx/unpacked-sheet.ts';

/**
 * Throws E102 for an encoding or a separator that cannot be guessed, E112 for rows without inputs, E208 and E209. Other errors
 * are left to the layout, which shows them with their lines. JSON is written by programs, so nothing is guessed about it.
 */
export async function settleSheet(
  source: SheetSource,
  given: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
): Promise<Settled> {
  if (given.format === 'json' || given.format === 'jsonl') return { options: given, guesses: [] };
  const inputs = inputTypes?.map(({ name }) => name);
  const reading = await settleReading(source, given, inputs);
  const columns = await leftToLayout(columnsOf(source, reading.options));
  if (columns === undefined) return reading;
  const names = columns.map(({ name }) => name);
  const matched = matchColumns(names, reading.options, inputs);
  const guesses = [...reading.guesses, ...matched.guesses];
  const values = await leftToLayout(settleValues(source, matched, { columns, inputTypes, reading }));
  if (values === undefined) return { options: matched.options, guesses };
  const { gpuColumn, keyColumn } = values.options;
  const data = matched.data.filter((name) => name !== gpuColumn && name !== keyColumn);
  return { options: values.options, guesses: [...guesses, ...values.guesses, ...keptAsData(data)] };
}

/** The codes that this file throws. */
const OWN: ReadonlySet<string> = new Set(['E112', 'E209']);

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
};

async function settleValues(
  source: SheetSource,
  { options, data, keys }: MatchedColumns,
  { columns, inputTypes, reading }: Known,
): Promise<Settled> {
  const plan = mapColumns(source.name, columns, options, inputTypes);
  const survey = new Survey({ plan, keys, data });
  const names = columns.map(({ name }) => name);
  const { limit = Number.POSITIVE_INFINITY, ...unlimited } = options;
  await survey.read(recordsOf(source, unlimited, names), limit, options.skipRows?.length !== 0);
  refuseRows(source.name, survey);
  refuseGpus(names[plan.gpuColumn ?? -1] ?? '', survey);
  const hidden =
    options.format === 'xlsx' && options.hidden === undefined ? (await sheetHead(source)).hidden : 0;
  const parts = [
    hiddenRows(hidden),
    rowGuesses(survey, options),
    keyGuess(survey, keys, options),
    gpuGuesses(survey, options),
    numberGuesses(survey, plan, options),
    { guesses: encodingGuess(survey, reading), options: {} },
  ];
  return {
    options: Object.assign({}, options, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: parts.flatMap((part) => part.guesses),
  };
}

type Part = { readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] };

const NONE: Part = { options: {}, guesses: [] };

function refuseRows(file: string, { emptyLines, headerLines }: Survey): void {
  const [lines, what] =
    headerLines.length > 0
      ? [headerLines, 'repeat the header']
      : [emptyLines, 'are empty in every column of an input'];
  if (lines.length === 0) return;
  const rows = rangesText(rangesOf(lines));
  throw problem(
    'E112',
    {
      what: `rows of ${file} ${what}: ${rows}`,
      hint: `if they are no rows of the batch, add: --skip-rows ${rows}`,
    },
    { place: { file }, correction: { add: [['--skip-rows', rows]] } },
  );
}

function rangesOf(lines: readonly number[]): readonly RowRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last?.to === line - 1) last.to = line;
    else ranges.push({ from: line, to: line });
  }
  return ranges;
}

const rangesText = (ranges: readonly RowRange[]): string =>
  ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',');

function refuseGpus(column: string, { badGpus }: Survey): void {
  // The layout shows the cells of a single one.
  if (badGpus.size < 2) return;
  const values = [...badGpus].map((value) => {
    const near = nearest(value, GPUS);
    return near === undefined ? value : `${value} (nearest: ${near})`;
  });
  throw problem('E209', { column, values, allowed: GPUS });
}

function hiddenRows(hidden: number): Part {
  if (hidden === 0) return NONE;
  const text = `${hidden} ${hidden === 1 ? 'row that Excel hides is' : 'rows that Excel hides are'} read too; to leave them out: --hidden skip`;
  return { options: { hidden: 'include' }, guesses: [toConfirm('rows', text, '--hidden', 'include')] };
}

function rowGuesses(survey: Survey, { skipRows = [] }: SheetOptions): Part {
  const { blank, totals } = survey;
  const guesses: Guess[] = [];
  if (blank > 0) guesses.push(said('rows', `${blank} blank ${blank === 1 ? 'row' : 'rows'} left out`));
  if (totals.length === 0) return { options: {}, guesses };
  const ranges = [...skipRows, ...rangesOf(totals)];
  guesses.push(toConfirm('rows', totalsText(survey), '--skip-rows', rangesText(ranges)));
  return { options: { skipRows: ranges }, guesses };
}

function totalsText({ totals, totalTexts, behindTotals }: Survey): string {
  const texts = totalTexts.map((text) => `"${text}"`);
  if (totals.length > texts.length) texts.push('…');
  const are =
    totals.length === 1
      ? 'is a total, not a row of the batch'
      : 'are totals and notes, not rows of the batch';
  const behind =
    behindTotals === 0 ? '' : `; ${behindTotals} behind ${totals.length === 1 ? 'it' : 'them'} will be sent`;
  return `row${totals.length === 1 ? '' : 's'} ${rangesText(rangesOf(totals))} (${texts.join(', ')}) ${are}${behind}; to send all rows: --skip-rows none`;
}

function keyGuess({ names }: Survey, keys: readonly string[], { drop }: SheetOptions): Part {
  const key = keys.find((name) => !names.has(name));
  if (key !== undefined)
    return {
      options: { keyColumn: key, drop: drop.filter((name) => name !== key) },
      guesses: [said('key', `column "${key}" names the rows`, '--key', key)],
    };
  const [near] = keys;
  const { repeated, empty } = (near !== undefined && names.get(near)) || {};
  if (repeated === undefined && empty === undefined) return NONE;
  const why = repeated
    ? `repeats in rows ${repeated.first} and ${repeated.again}`
    : `is empty in row ${empty}`;
  return { options: {}, guesses: [said('key', `column "${near}" ${why}, so it does not name the rows`)] };
}

function gpuGuesses({ gpus, gpuColumns }: Survey, { drop }: SheetOptions): Part {
  const guesses: Guess[] = [];
  if (gpus.size > 0) {
    const texts = [...gpus].map(([text, gpu]) => `"${text}" → ${gpu}`);
    guesses.push(said('gpu', `GPUs: ${list(texts)}`));
  }
  const [column] = gpuColumns;
  if (column === undefined) return { options: {}, guesses };
  guesses.push(toConfirm('gpu', `column "${column}" names the GPU of each row`, '--gpu-column', column));
  return { options: { gpuColumn: column, drop: drop.filter((name) => name !== column) }, guesses };
}

function numberGuesses(
  { numbers }: Survey,
  plan: ColumnMapping,
  { decimalComma, types }: SheetOptions,
): Part {
  const all = [...numbers];
  const percents = percentGuesses(all, plan, types);
  const guesses = [
    ...all.flatMap(([name, { pointZero }]): readonly Guess[] =>
      pointZero === undefined
        ? []
        : [said('values', `column "${name}": ${pointZero} is read as ${pointZero.replace(/\.0+$/, '')}`)],
    ),
    ...percents.guesses,
  ];
  const commas = all.filter(([, found]) => found.commas > 0);
  const isClear = commas.every(([, { isAmbiguous, others }]) => !isAmbiguous && others === 0);
  if (decimalComma !== undefined || commas.length === 0 || !isClear)
    return { options: percents.options, guesses };
  const text = `numbers have a decimal comma in ${list(commas.map(([name]) => `"${name}"`))}`;
  return {
    options: { ...percents.options, decimalComma: true },
    guesses: [...guesses, toConfirm('values', text, '--decimal-comma')],
  };
}

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
