// Turns guesses about a sheet into options, so that later readers guess nothing.

import { isJson } from '../formats.ts';
import { list, problem, RunsheetError } from '../../errors/error.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { mapColumns } from '../column-mapping.ts';
import { comparedGuess, markGuesses, nothingGuess, numberGuesses } from './guess-cells.ts';
import { settleJson } from './guess-json.ts';
import { settleReading } from './guess-reading.ts';
import {
  commentGuess,
  continuedGuess,
  rowGuesses,
  refuseRows,
  sheetGuess,
  shortGuess,
} from './guess-rows.ts';
import { nameProper } from './input-names.ts';
import { firstRowsOf, HEADER_ROWS } from './guess-header.ts';
import { brokenRows } from './broken-rows.ts';
import { hiddenColumns, hiddenRows } from './hidden-cells.ts';
import { refuseNoHeader } from './headerless.ts';
import { emptyPartGuesses } from './empty-parts.ts';
import { hasEntities } from './entity-cells.ts';
import { markedCells } from './enclosing-marks.ts';
import { longGuess, surplusGuess } from './long-rows.ts';
import { likelyColumns } from './likely-columns.ts';
import { matchColumns, type MatchedColumns } from './match-columns.ts';
import {
  choosesLetters,
  dropped,
  type Guess,
  mapped,
  NOTHING,
  type GuessPart,
  or,
  type Alternative,
  restingOn,
  said,
  type Settled,
  type SettledSheet,
  toConfirm,
} from './guess.ts';
import { namesInTemplates } from '../templates.ts';
import { settleRows } from '../grid/settle-rows.ts';
import { whereOf } from '../grid/expanded-rows.ts';
import { columnsChosenBy } from '../where/where.ts';
import { columnsOf, surveyedRecords } from '../read-records.ts';
import { listInput, type SampledRows, sampleOf } from './sample.ts';
import type { Column } from '../sheet-record.ts';
import { type SheetSource, isSkipped, type SheetOptions } from '../sheet-source.ts';
import { promptsIn } from '../trade/midjourney-rows.ts';
import { Survey } from './survey.ts';

/** `refusesOddRows`: nobody can be asked, so a row about which a question is open is refused alone, if bad rows are skipped. */
export type Settling = { readonly refusesOddRows?: boolean | undefined };

/**
 * Throws E102 for an unguessable encoding or separator, E104 for a transposed sheet, E112 for rows without
 * inputs, and E208; each carries the earlier guesses. The layout reports further errors with their lines.
 */
export async function settleSheet(
  source: SheetSource,
  userOptions: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
  { refusesOddRows = false }: Settling = {},
): Promise<SettledSheet> {
  if (isJson(userOptions.format)) return settleObjects(source, userOptions, inputTypes);
  const inputs = inputTypes?.flatMap(({ name, fields = [] }) => [name, ...fields]);
  const reads = await settleReading(source, userOptions, inputs, listInput(inputTypes));
  if (inputTypes !== undefined) {
    const rows = (await firstRowsOf(source, reads.options, HEADER_ROWS)) ?? [];
    try {
      refuseNoHeader(source.name, rows, reads.options, inputTypes, likelyColumns);
    } catch (error) {
      throw restingOn(error, reads.guesses);
    }
  }
  const rows = await settleRows(source, reads.options, inputTypes);
  const read = { options: rows.options, guesses: [...reads.guesses, ...rows.guesses] };
  const columns = await leftToLayout(columnsOf(source, read.options));
  const names = columns?.map(({ name }) => name);
  const sheet = await sheetGuess(source, userOptions, names, inputs);
  const reading = {
    options: { ...read.options, ...sheet.options },
    guesses: [...sheet.guesses, ...read.guesses],
  };
  if (columns === undefined || names === undefined) return { ...reading, problems: [] };
  let { guesses } = reading;
  try {
    const sample = (await leftToLayout(sampleOf(source, reading.options, names))) ?? [];
    refuseTurned(source.name, names, sample, inputs);
    const matched = matchColumns({
      file: source.name,
      columns,
      inputTypes,
      sample,
      ...(reading.options.format === 'midjourney' &&
        (await leftToLayout(promptsIn(source, reading.options)))),
      options: reading.options,
    });
    guesses = [...guesses, ...matched.guesses];
    const isSent = (name: string): boolean =>
      !matched.options.drop.includes(name) && (inputs === undefined || !matched.data.includes(name));
    const marked =
      userOptions.quote === undefined
        ? await leftToLayout(markedCells(source, matched.options, names, isSent))
        : undefined;
    if (marked?.refusal !== undefined) throw marked.refusal;
    guesses = [...guesses, ...(marked?.guesses ?? [])];
    const knownSheet = { columns, inputTypes, reading, refusesOddRows };
    const values = await leftToLayout(settleValues(source, matched, knownSheet));
    const { likely, problems } = matched;
    if (values === undefined) return { options: matched.options, guesses, problems, likely };
    const longRows = values.guesses.filter(({ options }) => options.unquoted ?? options.longRows);
    // The cells of these rows were in the wrong columns, or in none.
    if (longRows.length > 0) {
      const shape = Object.assign({}, ...longRows.map(({ options }) => options)) as Partial<SheetOptions>;
      const again = await settleSheet(source, { ...userOptions, ...shape }, inputTypes, { refusesOddRows });
      return { ...again, guesses: [...longRows, ...again.guesses] };
    }
    return { ...values, guesses: [...guesses, ...values.guesses], problems, likely };
  } catch (error) {
    throw restingOn(error, guesses);
  }
}

/** Objects need no guesses except for the member that names the row, members that say its state, empty parts of templates, and entities. */
async function settleObjects(
  source: SheetSource,
  userOptions: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
): Promise<SettledSheet> {
  const { named, ...settled } = await settleJson(source, userOptions, inputTypes);
  if (named === undefined) return settled;
  const { columns, keys } = named;
  const { options } = settled;
  const names = columns.map(({ name }) => name);
  const isWatched = keys.length + (named.idle?.size ?? 0) > 0;
  const isPlain = !isWatched && namesInTemplates(options.set, names).size === 0;
  if (isPlain && !(await hasEntities(source, options))) return settled;
  const survey = await leftToLayout(surveyed(source, named, { columns, inputTypes }));
  if (survey === undefined) return settled;
  const parts = [
    emptyPartGuesses(survey.emptyParts, mapColumns(source.name, columns, options, inputTypes), options),
    keyGuess(survey, keys, options, inputTypes !== undefined),
    { guesses: stateGuesses(survey, keys, options), options: {} },
    survey.entities.guess(options, settled.guesses),
  ];
  return {
    ...settled,
    options: Object.assign({}, options, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: [...settled.guesses, ...parts.flatMap((part) => part.guesses)],
  };
}

/** Throws E104 if the first column has the names of more inputs than the first row. */
function refuseTurned(
  file: string,
  names: readonly string[],
  sample: SampledRows,
  inputs: readonly string[] | undefined,
): void {
  const inputsIn = (texts: readonly string[]): readonly string[] =>
    inputs?.filter((input) => texts.some((name) => nameProper(name) === nameProper(input))) ?? [];
  const below = inputsIn([names[0] ?? '', ...sample.map(([first = '']) => first)]);
  if (below.length < 2 || below.length <= inputsIn(names).length || below.length * 2 < sample.length + 1)
    return;
  const what = `the sheet is turned by 90°: its first column has the names of inputs (${list(below)}), and each row is one input`;
  const hint =
    'swap rows and columns: in Excel and Google Sheets, copy the cells, then Paste special > Transpose';
  throw problem('E104', { what, hint }, { place: { file } });
}

/** Errors that are not left to the layout. */
const OWN: ReadonlySet<string> = new Set(['E112']);

async function leftToLayout<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RunsheetError && !OWN.has(error.code)) return undefined;
    throw error;
  }
}

type KnownSheet = {
  readonly columns: readonly Column[];
  readonly inputTypes: readonly InputType[] | undefined;
  readonly reading: Settled;
  readonly refusesOddRows?: boolean;
};

async function settleValues(
  source: SheetSource,
  matched: MatchedColumns,
  knownSheet: KnownSheet,
): Promise<Settled> {
  const { columns, inputTypes, reading } = knownSheet;
  const { keys } = matched;
  const first = await surveyed(source, matched, knownSheet);
  const isOddRefused = knownSheet.refusesOddRows && areOddFew(first, matched.options);
  const broken = await brokenRows(source, matched.options, first);
  const isHalfSent = broken?.isLikely === true && !broken.areShort;
  const shapes = [
    commentGuess(first, matched.options),
    ...(isFewOf(first, matched.options) && !isHalfSent
      ? []
      : [shortGuess(first, matched.options, broken), longGuess(first.long, matched.options)]),
    surplusGuess(first.long, matched.options),
    ...(isOddRefused ? [] : [nothingGuess(first, matched.options)]),
    comparedGuess(first, matched.options),
    continuedGuess(first, matched.options),
  ];
  const changes = shapes.map((part) => part.options).filter((part) => Object.keys(part).length > 0);
  const options: SheetOptions = Object.assign({}, matched.options, ...changes);
  const survey = changes.length === 0 ? first : await surveyed(source, { ...matched, options }, knownSheet);
  const plan = mapColumns(source.name, columns, options, inputTypes);
  const shaped = shapes.flatMap((part) => part.guesses);
  try {
    // A row that is empty so far may fill the input whose column is not known yet.
    const isWhole = Object.keys(matched.likely).length === 0;
    if (options.invalid !== 'skip' && isWhole) refuseRows(source.name, survey, options);
  } catch (error) {
    throw restingOn(error, shaped);
  }
  const marks = markGuesses(survey, plan, options);
  const parts = [
    await hiddenRows(source, options),
    await hiddenColumns(source, options, plan, Object.values(reading.options.map)),
    rowGuesses(survey, options),
    ...(isOddRefused ? [] : [emptyPartGuesses(survey.emptyParts, plan, options)]),
    keyGuess(survey, keys, options, inputTypes !== undefined),
    gpuGuesses(survey, options, inputTypes !== undefined),
    survey.entities.guess(options, matched.guesses),
    survey.severalFiles.guess(plan, options),
    { guesses: stateGuesses(survey, keys, options), options: {} },
    {
      guesses: survey.unlike.guesses(options, reading.guesses, knownSheet.refusesOddRows === true),
      options: {},
    },
    marks,
    numberGuesses(survey, plan, { ...matched.options, ...marks.options }),
    { guesses: encodingGuess(survey, reading), options: {} },
  ];
  return {
    options: Object.assign({}, options, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: [...shaped, ...parts.flatMap((part) => part.guesses)],
    ...(isOddRefused && { areOddRowsRefused: true as const }),
  };
}

/** Whether a few rows are odd, so that the sheet as a whole is as meant. */
const areOddFew = ({ oddRows, rows, randomSeeds }: Survey, { invalid }: SheetOptions): boolean =>
  invalid === 'skip' && randomSeeds === 0 && oddRows > 0 && 2 * oddRows <= rows;

/** Whether the rows that lack cells, or break in one, are few enough to be bad rows, which the options skip. */
const isFewOf = ({ short, long, rows }: Survey, { invalid }: SheetOptions): boolean =>
  invalid === 'skip' && 2 * (short.count + long.count) <= rows;

async function surveyed(
  source: SheetSource,
  { options, data, keys, idle }: Pick<MatchedColumns, 'options' | 'data' | 'keys' | 'idle'>,
  { columns, inputTypes }: Omit<KnownSheet, 'reading'>,
): Promise<Survey> {
  const plan = mapColumns(source.name, columns, options, inputTypes);
  const names = columns.map(({ name }) => name);
  const compared = new Set<string>();
  const isMet = whereOf(options, names, compared);
  const survey = new Survey({ plan, keys, data, compared, idle });
  const { limit = Number.POSITIVE_INFINITY, skipRows, hidden, totals, ...whole } = options;
  // Lines of a chat that are no prompts are no rows.
  const rows = options.format === 'midjourney' && totals !== undefined ? { ...whole, totals } : whole;
  await survey.read(surveyedRecords(source, rows, names), {
    most: limit,
    hasTotals: totals !== 'send' && skipRows?.length !== 0,
    hasComments: options.comment === undefined,
    // No condition leaves out a row that cannot be read: it may be a part of another one.
    isLeftOut: (row) =>
      isSkipped(options, row.line) ||
      ('cells' in row &&
        ((hidden === 'skip' && row.isHidden === true) || (row.fault === undefined && isMet(row) === false))),
  });
  return survey;
}

/** A column that names the rows or their GPUs says no state, and a condition chooses among the states of its columns. */
function stateGuesses(
  { states, names, gpuColumns, otherGpus, columns }: Survey,
  keys: readonly string[],
  { where }: SheetOptions,
) {
  const key = keys.find((name) => !names.has(name));
  const named = where === undefined ? [] : columnsChosenBy(where, columns);
  return states.guesses(new Set([key, ...gpuColumns, ...otherGpus.keys(), ...named]), where);
}

/** Without declared inputs, the key column may itself be an input. */
function keyGuess(
  { names }: Survey,
  keys: readonly string[],
  { drop }: SheetOptions,
  isDeclared: boolean,
): GuessPart {
  const key = keys.find((name) => !names.has(name));
  if (key !== undefined) {
    const text = `column "${key}" names the rows`;
    const guess = isDeclared
      ? said('key', text, { keyColumn: key })
      : toConfirm('key', `${text} and is no input`, { keyColumn: key }, asInput(key));
    return { options: { keyColumn: key, drop: drop.filter((name) => name !== key) }, guesses: [guess] };
  }
  if (!isDeclared) return NOTHING;
  const [near] = keys;
  const { repeated, empty, unfit } = (near !== undefined && names.get(near)) || {};
  if ((repeated ?? empty ?? unfit) === undefined) return NOTHING;
  const why = repeated
    ? `repeats in rows ${repeated.first} and ${repeated.again}`
    : empty === undefined
      ? `cannot be a key in row ${unfit}`
      : `is empty in row ${empty}`;
  return { options: {}, guesses: [said('key', `column "${near}" ${why}, so it does not name the rows`)] };
}

const asInput = (column: string): Alternative => or('to send it as one', mapped(column, column));

function gpuGuesses(
  { gpus, gpuColumns, otherGpus }: Survey,
  { drop }: SheetOptions,
  isDeclared: boolean,
): GuessPart {
  const guesses: Guess[] = [...otherGpus].map(([name, value]) =>
    toConfirm('gpu', `column "${name}" is not sent: "${value}" is no GPU of this service`, dropped(name)),
  );
  if (gpus.size > 0) {
    const texts = [...gpus].map(([text, gpu]) => `"${text}" → ${gpu}`);
    guesses.push(said('gpu', `GPUs: ${list(texts)}`));
  }
  const [column] = gpuColumns;
  if (column === undefined) return { options: {}, guesses };
  const text = `column "${column}" names the GPU of each row${isDeclared ? '' : ' and is no input'}`;
  const alternatives = isDeclared ? [] : [asInput(column)];
  guesses.push(toConfirm('gpu', text, { gpuColumn: column }, ...alternatives));
  return { options: { gpuColumn: column, drop: drop.filter((name) => name !== column) }, guesses };
}

/** A wrong encoding shows in the words, so the user confirms some of them. */
function encodingGuess({ words }: Survey, { guesses }: Settled): readonly Guess[] {
  const guess = guesses.find(choosesLetters);
  if (guess === undefined || words.size === 0) return [];
  return [toConfirm('encoding', `the letters are right: ${list([...words])}`, guess.options)];
}
