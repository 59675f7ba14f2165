// Turns a sheet into the pages of a batch. Rows are streamed: memory keeps only a fingerprint of each row and the first ten
// errors; the error list has all errors.

import { createHash } from 'node:crypto';
import { parseExactly } from '../host/formats/exact-json.ts';
import { problem, RunsheetError } from '../errors/error.ts';
import type { LaneSpec } from '../batch/params.ts';
import type { InputType } from '../service-client/contract/deployment.ts';
import type { Store } from '../store/store.ts';
import type { Guess, LikelyColumns } from './guesses/guess.ts';
import { filesAhead, type FilesFound, type InputFiles } from './input-files.ts';
import { RowNames } from './row-keys.ts';
import { PAGE_BYTES, PageSizes, PageWriter } from './pages.ts';
import { rowLayer } from './laid-row.ts';
import { UnreadRows, type RefusedRows } from './refused-rows.ts';
import { type ColumnMapping, mapColumns } from './column-mapping.ts';
import { type ColumnUse, FirstCells, usesOf } from './column-use.ts';
import type { SheetRecord } from './sheet-record.ts';
import { oddCellsOf, type OddCells } from './odd-rows.ts';
import { fileNamesFor, type HashedNames, type RowFileNames } from './output-name.ts';
import { columnsOf, recordsOf } from './read-records.ts';
import { definedOnly } from '../options/defined-only.ts';
import { ownColumns } from './result-columns.ts';
import { type ErrorsPlace, Problems, withExcerpts } from './validation-errors.ts';
import { rowSorter, SendingOrder, type OrderOptions, type RowSorter } from './sending-order.ts';
import { templateText } from './templates.ts';
import { sheetFault, type SheetSource, type SheetOptions } from './sheet-source.ts';

export type LaidOut = {
  readonly rows: number;
  readonly pages: number;
  /** The columns of the sheet, in its order. */
  readonly columns: readonly string[];
  /** `kind` is `auto` if the type of each cell is guessed. */
  readonly inputs: readonly {
    readonly input: string;
    readonly kind: string;
    readonly from: { readonly column: string } | { readonly value: unknown };
    /** The fields of a workflow that it fills, and its other names. */
    readonly fields?: readonly string[];
    readonly also?: readonly string[];
  }[];
  /** Columns without a role. */
  readonly unused: readonly string[];
  /** The use of each column, in the order of the sheet. */
  readonly uses: readonly ColumnUse[];
  readonly repeats: Readonly<RowNames['repeats']>;
  /** Rows that repeat an earlier one but for the case and blanks of its key. */
  readonly twins: Readonly<RowNames['twins']>;
  /** Rows by GPU; '' for rows that name none. */
  readonly gpus: Readonly<Record<string, number>>;
  readonly lanes: readonly LaneSpec[];
  /** With a ladder: the inputs that predict what a run needs. */
  readonly sizedBy?: readonly string[];
  /** Whether there is a queue; if not, places are row numbers. */
  readonly isQueued: boolean;
  readonly guesses?: readonly Guess[];
  /** Rows that could not be read, and are never sent. */
  readonly refused?: RefusedRows;
  /** With a key column: the files that are not named as their keys are. */
  readonly hashedNames?: HashedNames;
  /** The files of this machine that its rows name. */
  readonly files?: FilesFound;
  /** sha256 of the rows: key, GPU and inputs of each, in order, and the ladder. */
  readonly content: string;
};

export type LayOutParams = {
  readonly source: SheetSource;
  readonly options: SheetOptions;
  /** The deployment's input types; undefined if the service does not provide them. */
  readonly inputTypes: readonly InputType[] | undefined;
  readonly store: Store;
  readonly errors: ErrorsPlace;
  /** Errors found before the layout. */
  readonly known?: readonly RunsheetError[];
  /** For messages. */
  readonly likely?: LikelyColumns | undefined;
  readonly order?: OrderOptions;
  /** The template of the names of files (default: the key column, if there is one). */
  readonly outputName?: string | undefined;
  /** The GPU of rows that ask for none, if it is known. */
  readonly ownGpu?: string | undefined;
  /** The files of this machine that rows may name (default: none). */
  readonly files?: InputFiles | undefined;
  /** Whether a row that a question concerns alone is refused. */
  readonly refusesOddRows?: boolean;
  /** Maximum bytes of a page (default: {@link PAGE_BYTES}). */
  readonly pageBytes?: number;
};

/**
 * Validates every row of a sheet and writes it into its page. Throws {@link SheetRefused} for errors in rows or header, E101
 * to E104 for an unreadable sheet, and E201, E206 or E602 for invalid options. Completed pages stay.
 */
export async function layOut(params: LayOutParams): Promise<LaidOut> {
  const {
    source,
    options,
    inputTypes,
    store,
    errors,
    known: knownErrors = [],
    pageBytes = PAGE_BYTES,
  } = params;

  const problems = new Problems(errors);
  const pages = new PageWriter(store);
  try {
    for (const fault of knownErrors) await problems.add(fault);
    const columns = await columnsOf(source, options).catch(missing);
    const plan = mapColumns(source.name, columns, options, inputTypes, params.likely);
    const uses = usesOf(plan, { ...options, order: params.order, outputName: params.outputName });
    const firsts = new FirstCells(plan);
    const names = columns.map(({ name }) => name);
    const sizes = new PageSizes(pageBytes);
    const records = recordsOf(source, options, names);
    const sorter = rowSorter(plan, params.order ?? {});
    using queue = new SendingOrder(store, params.ownGpu, sorter !== undefined || plan.ladder !== undefined);
    const fileNames = fileNamesFor(params.outputName, ownColumns(names), options);
    const isWide = names.length > 1 && options.shortRows !== true;
    const unread = options.invalid === 'skip' ? new UnreadRows(isWide) : undefined;
    const oddCells = params.refusesOddRows === true ? oddCellsOf(plan) : undefined;
    const laying = {
      oddCells,
      pages,
      sizes,
      problems,
      queue,
      sorter,
      fileNames,
      firsts,
      files: params.files,
      unread,
    };
    const { rows, ...counts } = await layRows(plan, records, laying);
    const columnUses = firsts.with(plan, uses);
    // A sheet without any row to send is refused too.
    const left = unread === undefined || unread.rows === rows ? 0 : unread.faults;
    if (problems.total > left) throw await problems.refusal(source, options, { rows, columns: columnUses });
    await pages.end();
    const lanes = await queue.end();
    const { isQueued } = queue;
    const { unused, sizedBy } = plan;
    return {
      rows,
      pages: pages.pages,
      columns: names,
      inputs: inputsOf(plan),
      unused,
      uses: columnUses,
      ...(plan.ladder === undefined ? {} : { sizedBy }),
      lanes,
      isQueued,
      ...(unread?.refused && { refused: unread.refused }),
      ...(fileNames && fileNames.hashed.count > 0 && { hashedNames: fileNames.hashed }),
      ...counts,
    };
  } catch (error) {
    throw await explained(error, source, options);
  } finally {
    await pages.discard();
    await problems.discard();
  }
}

type Laying = {
  readonly pages: PageWriter;
  readonly sizes: PageSizes;
  readonly problems: Problems;
  readonly queue: SendingOrder;
  readonly sorter: RowSorter | undefined;
  readonly fileNames: RowFileNames | undefined;
  readonly firsts: FirstCells;
  readonly files: InputFiles | undefined;
  readonly unread: UnreadRows | undefined;
  readonly oddCells: OddCells | undefined;
};

async function layRows(
  plan: ColumnMapping,
  records: AsyncIterable<SheetRecord>,
  { pages, sizes, problems, queue, firsts, ...laying }: Laying,
): Promise<Pick<LaidOut, 'rows' | 'repeats' | 'twins' | 'gpus' | 'content'>> {
  const { files, unread } = laying;
  const ahead = filesAhead(plan.feeds, files, plan.nothings);
  const names = new RowNames();
  const layRow = rowLayer({ ...laying, misplaced: problems.misplaced, plan, names });
  const gpus = new Map<string, number>();
  const content = createHash('sha256');
  let rows = 0;
  for (const fault of plan.problems) await problems.add(fault);
  for await (const record of records) {
    rows += 1;
    firsts.take(record);
    const reading = ahead?.(record);
    if (reading) await reading;
    const { faults, key, laid } = layRow(record, rows);
    for (const fault of faults) await problems.add(fault, key);
    if (laid === undefined) continue;
    const { line, content: rowContent, sent } = laid;
    const overfull = sizes.add(rows, line);
    if (overfull) {
      const place = { file: plan.file, line: record.line, row: rows };
      await problems.add(problem('E108', { ...overfull, row: rows, most: sizes.mostWords }, { place }));
      // The user has to change such a sheet anyway, and reading on could take minutes.
      break;
    }
    // A refused sheet needs no pages.
    if (problems.total > (unread?.faults ?? 0)) continue;
    content.update(rowContent);
    const full = pages.add(line);
    if (full) await full;
    if (sent === undefined) queue.skip();
    else {
      gpus.set(sent.gpu ?? '', (gpus.get(sent.gpu ?? '') ?? 0) + 1);
      queue.add(sent.gpu, sent.position, sent.size);
    }
  }
  // Rows on a ladder are different requests than the same rows without it.
  if (plan.ladder !== undefined) content.update(`ladder ${plan.ladder.join(',')}`);
  const what = plan.columns.length > 0 ? 'the sheet has a header and no rows' : 'the sheet has no rows';
  if (rows === 0) throw problem('E104', { what }, { place: { file: plan.file } });
  return {
    rows,
    repeats: names.repeats,
    twins: names.twins,
    gpus: Object.fromEntries(gpus),
    content: content.digest('hex'),
  };
}

function inputsOf({ feeds, columns }: ColumnMapping): LaidOut['inputs'] {
  const nameOf = (index: number): string => columns[index]?.name ?? '';
  return feeds.map(({ input, kind, from, type }) => {
    const { fields, also } = type ?? {};
    const own = { input, kind, ...definedOnly({ fields, also }) };
    if ('json' in from) return { ...own, from: { value: parseExactly(from.json) } };
    if ('column' in from) return { ...own, from: { column: nameOf(from.column) } };
    return { ...own, from: { value: templateText(from.template, nameOf) } };
  });
}

/** Adds place and hint to an error of opening the sheet. */
async function missing(error: unknown): Promise<never> {
  const { path, syscall } = error as NodeJS.ErrnoException;
  throw syscall === 'open' && path !== undefined ? await sheetFault(path, error) : error;
}

/** Adds the line of the sheet to an error. */
async function explained(error: unknown, source: SheetSource, options: SheetOptions): Promise<unknown> {
  if (!(error instanceof RunsheetError)) return error;
  const [shown] = await withExcerpts([error], source, options);
  return shown;
}
