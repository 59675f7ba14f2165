// Adds the rows of a further sheet to a batch (--into): new rows after the last row of the batch, and failed rows with new inputs.
// Files are written aside until the file of the pass makes them count. Of two concurrent commands, the second one compares again
// and finds the rows of the first one, so repeating a command appends nothing.
//
//   layout/<mark>/passes/<random>/rows/…   the new rows with their cells, numbered after the rows of the batch
//   layout/<mark>/queue/…                  the places of the new rows and of the changed rows
//   passes/<n>.json                        names both; created once

import { isJson } from '../../sheet/formats.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { stayingOf } from '../../options/table.ts';
import { randomBytes } from 'node:crypto';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { nearest, problem, RunsheetError } from '../../errors/error.ts';
import type { InputFiles } from '../../sheet/input-files.ts';
import { isLetter } from '../../sheet/header.ts';
import { fileNamesFor, outputNameFault } from '../../sheet/output-name.ts';
import { readPage, PageWriter, rowLine, type SheetRow } from '../../sheet/pages.ts';
import { columnsOf, readCells, sheetColumns } from '../../sheet/read-records.ts';
import { ownColumns, resultNames } from '../../sheet/result-columns.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import { sourceIn, type SheetSource, type SheetOptions, type ReadOptions } from '../../sheet/sheet-source.ts';
import { layOut, type LaidOut } from '../../sheet/sheet.ts';
import { settleReading } from '../../sheet/guesses/guess-reading.ts';
import { choosesLetters, type Guess } from '../../sheet/guesses/guess.ts';
import { settleSheet } from '../../sheet/guesses/settle-sheet.ts';
import { type Queued, readBatchSheet, sheetRows } from '../../sheet/placed-rows.ts';
import { refuseUnbounded } from '../../store/attempt-cost-bound.ts';
import { layoutOf } from '../../store/batch-file.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import { type Store, within } from '../../store/store.ts';
import { newPass, type NewPass } from './new-pass.ts';
import { compareRows, type Comparison } from './compare-rows.ts';
import { errorsPlaceOf } from '../stale-folders.ts';
import { QueuePages, queuedIn } from '../queue-pages.ts';
import type { SheetCopy } from '../copy-sheet.ts';

export type AppendParams = FurtherReading & {
  readonly order: OrderOptions;
  readonly inputTypes: readonly InputType[] | undefined;
  readonly files?: InputFiles | undefined;
  /** Whether to list every problem of a refused sheet in a file (default: yes). */
  readonly listsErrors?: boolean | undefined;
};

export type FurtherSheet = {
  readonly batch: BatchFolder;
  readonly name: string;
  readonly options: SheetOptions;
  readonly laidOut: LaidOut;
  readonly layout: Store;
  readonly file: string;
  readonly isSavedAgain: boolean;
  /** Columns that the batch does not have; only a sheet that was saved again may have any. */
  readonly otherColumns: readonly string[];
};

export type ReadSheet = {
  /** The guesses that the user has to confirm, and all others about the sheet. */
  readonly guesses: readonly Guess[];
  /** Throws the errors of the sheet. */
  readonly layOut: () => Promise<FurtherSheet>;
};

/** Throws E532 if the columns are not those of the batch. */
export async function readFurther(params: AppendParams): Promise<ReadSheet> {
  const { batch, copy, order, inputTypes, out, isSavedAgain = false } = params;
  const { map, set, drop, types, gpuColumn, gpu, keyColumn, optionalParts } = batch.file.sheet.options;
  const layout = openStore(copy.folder);
  const source = sourceIn(layout, copy);
  const none = { format: copy.format, map: {}, set: {}, drop: [], types: {} };
  const reading = { ...none, ...(await stayingIn(params, source, none)), ...params.reading };
  const { options: format, guesses } = await settleReading(source, reading, batch.file.sheet.columns);
  const columns = (await columnsOf(source, format)).map(({ name }) => name);
  const otherColumns = columnsBeyond(params, columns);
  // With grid, repeat or split, a row of the sheet is several rows of the batch, and only the results name each of them.
  const resultKey = resultKeyIn(columns);
  const { grid, repeat, split } = batch.file.sheet.options;
  const isSeveral = (grid ?? repeat ?? split) !== undefined;
  const key = isSeveral ? (resultKey ?? keyColumn) : (keyColumn ?? resultKey);
  const mapped: SheetOptions = {
    ...format,
    map: inputTypes === undefined ? { ...inputsOf(batch, columns), ...map } : map,
    set,
    drop: isSavedAgain ? [...drop.filter((name) => columns.includes(name)), ...otherColumns] : drop,
    types,
    ...definedOnly({ gpuColumn, gpu, keyColumn: key, optionalParts }),
  };
  const { options: ownOptions, problems, ...settled } = await settleSheet(source, mapped, inputTypes);
  // The templates stay those of the batch.
  const { optionalParts: _, ...settledOptions } = ownOptions;
  const options = { ...settledOptions, set, ...definedOnly({ optionalParts }) };
  const allGuesses = [...guesses.map(orConfirm), ...settled.guesses.map(withoutTemplate)];
  return {
    // A sheet that is refused needs no answer.
    guesses: problems.length > 0 ? [] : openGuesses(params, allGuesses),
    layOut: async () => {
      const laidOut = await layOut({
        source,
        options,
        inputTypes,
        known: problems,
        store: layout,
        order,
        ownGpu: batch.file.deployment.gpu,
        errors: await errorsPlaceOf({ out, copy, listsErrors: params.listsErrors }),
        files: params.files,
      });
      return {
        batch,
        name: copy.name,
        options,
        laidOut,
        layout,
        file: copy.file,
        isSavedAgain,
        otherColumns,
      };
    },
  };
}

/** The reading options of the batch's own sheet that apply to this sheet too. */
async function stayingIn(
  params: AppendParams,
  source: SheetSource,
  none: SheetOptions,
): Promise<Partial<SheetOptions>> {
  const { options, columns } = params.batch.file.sheet;
  const always = stayingOf(options, [true]);
  const read = { ...none, ...always, ...params.reading };
  if (await isOfResults(source, read, columns)) return always;
  const isAlike = options.format === params.copy.format;
  // The lines of a plain list have commas.
  const isList = isAlike && options.columns !== undefined && options.delimiter === 'none';
  return {
    ...stayingOf(options, isAlike ? [true, 'rows', 'shape'] : [true, 'rows']),
    ...(isList ? { delimiter: 'none' } : {}),
  };
}

async function isOfResults(source: SheetSource, read: SheetOptions, batchColumns: readonly string[]) {
  try {
    const { options } = await settleReading(source, read, batchColumns);
    const columns = await sheetColumns(source, options);
    return resultKeyIn(columns.map(({ name }) => name)) !== undefined;
  } catch (error) {
    // The sheet may still be readable with the shape of the first sheet.
    if (error instanceof RunsheetError) return false;
    throw error;
  }
}

/** Without declared inputs, a column is an input if the batch uses it as one; nothing else is guessed. */
const inputsOf = ({ file }: BatchFolder, columns: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    file.sheet.inputs.flatMap(({ input, from }) =>
      'column' in from && columns.includes(from.column) ? [[input, from.column]] : [],
    ),
  );

/** The column in which a results file names its rows; undefined if the sheet is no results file. */
export function resultKeyIn(columns: readonly string[]): string | undefined {
  const own = ownColumns(columns);
  return own.length === columns.length ? undefined : resultNames(own)[1];
}

/** The columns that the batch does not have. A sheet that was saved again may have some, and may lack ignored columns. */
function columnsBeyond({ batch, copy, isSavedAgain = false }: AppendParams, columns: readonly string[]) {
  // Columns of cells beyond the header are those of their sheet.
  const isNamed = (name: string): boolean => batch.file.sheet.options.longRows !== true || !isLetter(name);
  const has = ownColumns(batch.file.sheet.columns).filter(isNamed);
  const named = ownColumns(columns).filter(isNamed);
  // A member that no row of a JSON sheet has is empty in all of them.
  const ignored = isSavedAgain ? batch.file.sheet.options.drop : [];
  const missing = isJson(copy.format)
    ? []
    : has.filter((name) => !named.includes(name) && !ignored.includes(name));
  const otherColumns = named.filter((name) => !has.includes(name));
  if (missing.length === 0 && (isSavedAgain || otherColumns.length === 0)) return otherColumns;
  const near = nearest(otherColumns[0] ?? '', missing);
  throw problem('E532', {
    name: copy.name,
    batch: batch.batch,
    missing,
    others: otherColumns,
    columns: has,
    near,
  });
}

/** A row of the sheet that the batch does not have yet, with the number that it gets there. */
type NewRow = Pick<SheetRow, 'row' | 'key' | 'gpu' | 'inputs' | 'name'> & {
  readonly cells: readonly string[];
};

/** The new rows with their cells, in the order of the batch's columns. Throws E118. */
async function* newRows(sheet: FurtherSheet, comparison: Comparison): AsyncGenerator<NewRow> {
  const { laidOut, layout, batch, options } = sheet;
  const columns = ownColumns(batch.file.sheet.columns);
  const own = columns.map((name) => laidOut.columns.indexOf(name));
  const names = await namesOf(batch, columns);
  const lines = readCells(() => layout.open(sheet.file), options, laidOut.columns)[Symbol.asyncIterator]();
  for (let page = 1; page <= laidOut.pages; page += 1)
    for (const { row, key, gpu, inputs } of await readPage(layout, page)) {
      const { value: line = [] } = (await lines.next()) as { readonly value?: readonly string[] };
      const number = comparison.numberOf(row);
      if (number === undefined) continue;
      const cells = own.map((at) => line[at] ?? '');
      const named = names?.nameOf({ row: number, key, cellOf: (at) => cells[at] ?? '' }) ?? {};
      if ('fault' in named) throw outputNameFault(named.fault, { file: sheet.name, row });
      yield { row: number, key, inputs, cells, ...(gpu === undefined ? {} : { gpu }), ...named };
    }
  await lines.return?.(undefined);
}

async function namesOf({ store, file }: BatchFolder, columns: readonly string[]) {
  const names = fileNamesFor(file.sheet.outputName, columns, file.sheet.options);
  if (names === undefined) return undefined;
  const batchSheet = await readBatchSheet(store, file);
  for await (const { row } of sheetRows(layoutOf(store, file), batchSheet, 1, batchSheet.rows))
    names.keep(row);
  return names;
}

/** How many rows one error names. */
const MAX_NAMED = 1_000;

/** Compares the sheet with the present rows of the batch. The caller disposes of the comparison. Throws E312, E533 if a row cannot be changed, and E118. */
export async function compareFurther(sheet: FurtherSheet): Promise<Comparison> {
  const { batch, name, laidOut, layout, isSavedAgain } = sheet;
  const { file } = batch;
  refuseUnbounded({ ...file, sheet: { lanes: laidOut.lanes } }, file.maxCostNano);
  const comparison = await compareRows(batch, { layout, ...laidOut }, isSavedAgain);
  const { taken } = comparison;
  if (taken.length === 0) return withNames(sheet, comparison);
  comparison[Symbol.dispose]();
  const some = taken.slice(0, MAX_NAMED).map(({ row, key, outcome }) => `${row} (key ${key}, ${outcome})`);
  throw problem('E533', { name, batch: batch.batch, count: taken.length, rows: some });
}

/** Refuses new rows whose output files cannot be named. Throws E118. */
async function withNames(sheet: FurtherSheet, comparison: Comparison): Promise<Comparison> {
  if (comparison.appended === 0 || sheet.batch.file.sheet.outputName === undefined) return comparison;
  try {
    for await (const _ of newRows(sheet, comparison));
    return comparison;
  } catch (error) {
    comparison[Symbol.dispose]();
    throw error;
  }
}

export type Appended = { readonly pass: number; readonly appended: number; readonly changed: number };

/** Writes the rows and their places. The creation of the pass fails if another pass was added since the comparison. */
export async function queueRows(sheet: FurtherSheet, comparison: Comparison, by: string): Promise<NewPass> {
  const { store, file } = sheet.batch;
  const { pass, appended, changed } = comparison;
  const folder = `passes/${randomBytes(8).toString('hex')}`;
  if (appended > 0) await writeRows(sheet, comparison, within(layoutOf(store, file), folder));
  const queue = await QueuePages.open(store, file, pass);
  for (const [lane, { gpu = '' }] of sheet.laidOut.lanes.entries()) {
    await queue.add(
      gpu,
      placesIn(sheet, lane, (row) => newPlace(comparison, row, folder)),
      true,
    );
    await queue.add(
      gpu,
      placesIn(sheet, lane, (row) => comparison.againOf(row)),
    );
  }
  return newPass(sheet.batch, pass, {
    at: new Date().toISOString(),
    kind: 'append',
    by,
    ...(changed > 0 ? { isChanged: true } : {}),
    ...(appended > 0 ? { appended: { folder, rows: appended } } : {}),
    segments: queue.segments,
  });
}

async function writeRows(sheet: FurtherSheet, comparison: Comparison, to: Store): Promise<void> {
  let writer: PageWriter | undefined;
  for await (const { row, key, gpu, inputs, cells, name } of newRows(sheet, comparison)) {
    writer ??= new PageWriter(to, row);
    const full = writer.add(rowLine(row, key, gpu, JSON.stringify(inputs), { cells, name }));
    if (full) await full;
  }
  await writer?.end();
}

function newPlace(comparison: Comparison, row: number, folder: string): Queued | undefined {
  const number = comparison.numberOf(row);
  return number === undefined ? undefined : { row: number, in: folder };
}

async function* placesIn(
  { laidOut, layout }: FurtherSheet,
  lane: number,
  placeOf: (row: number) => Queued | undefined,
): AsyncGenerator<Queued> {
  for await (const { row } of queuedIn(layout, laidOut, lane)) {
    const place = placeOf(row);
    if (place !== undefined) yield place;
  }
}

type FurtherReading = {
  readonly out: string;
  readonly batch: BatchFolder;
  readonly copy: SheetCopy;
  /** How to read the file; inputs are mapped as in the batch. */
  readonly reading: ReadOptions;
  /** Whether this is the sheet of the batch, saved again (run --watch): the present inputs of its rows count. */
  readonly isSavedAgain?: boolean;
};

/** The guesses that the batch was not made with. */
const openGuesses = (
  { batch, isSavedAgain = false }: FurtherReading,
  guesses: readonly Guess[],
): readonly Guess[] => guesses.filter((guess) => !(isSavedAgain && isAgreed(guess, batch)));

/** Whether the batch was made with the same guess, or the user gave it as an option. */
function isAgreed({ options }: Guess, { file }: BatchFolder): boolean {
  const settled = file.sheet.options;
  return AGREED_ONCE.some((name) => options[name] !== undefined && options[name] === settled[name]);
}

/** Guesses about the form of a file, which hold for a file that is saved again. */
const AGREED_ONCE = ['headerRow', 'hidden', 'encoding', 'sheet'] as const;

/** A batch keeps its templates, so that empty cells of further rows are only said. */
const withoutTemplate = (guess: Guess): Guess =>
  guess.options.set === undefined ? guess : { ...guess, sure: 'said', options: {} };

const orConfirm = (guess: Guess): Guess => (choosesLetters(guess) ? { ...guess, sure: 'confirm' } : guess);
