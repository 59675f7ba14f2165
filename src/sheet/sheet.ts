// A sheet becomes the pages of a batch. Rows stream through: nothing is kept of a row but its fingerprint, and nothing
// of a problem but the first ten and a line in the list of errors.

import { createHash } from 'node:crypto';
import { parseExactly } from '../batch/digits.ts';
import { problem, RunsheetError } from '../errors/error.ts';
import type { InputType } from '../run-service/contract/deployment.ts';
import type { Store } from '../store/store.ts';
import { RowNames } from './row-keys.ts';
import type { SheetOptions } from './sheet-options.ts';
import { PAGE_BYTES, PageSizes, PageWriter, rowLine } from './pages.ts';
import { type ColumnMapping, mapColumns } from './column-mapping.ts';
import type { SheetRecord } from './sheet-record.ts';
import { columnsOf, recordsOf } from './read-records.ts';
import { type ErrorsPlace, Problems, withExcerpts } from './validation-errors.ts';
import { placeOfCell, rowReader } from './row-reader.ts';
import { sheetFault, type SheetSource } from './sheet-source.ts';

export type LaidOut = {
  readonly rows: number;
  readonly pages: number;
  /** All columns of the sheet, in its order. */
  readonly columns: readonly string[];
  /** `kind` is `auto` where each cell is read as what it looks like. */
  readonly inputs: readonly {
    readonly input: string;
    readonly kind: string;
    readonly from: { readonly column: string } | { readonly value: unknown };
  }[];
  /** Columns that give nothing. */
  readonly unused: readonly string[];
  /** Rows that ask for what an earlier row asked; the first ten of them. */
  readonly repeats: {
    readonly count: number;
    readonly first: readonly { readonly row: number; readonly firstRow: number }[];
  };
  /** Rows by the GPU they ask; '' where they ask none. */
  readonly gpus: Readonly<Record<string, number>>;
  /** sha256 of the rows: key, GPU and inputs of each, in order. */
  readonly content: string;
};

export type LayOutOrder = {
  readonly source: SheetSource;
  readonly options: SheetOptions;
  /** Of the deployment; undefined where the service does not tell. */
  readonly inputTypes: readonly InputType[] | undefined;
  readonly store: Store;
  readonly errors: ErrorsPlace;
  /** The most that a page may have; {@link PAGE_BYTES} where absent. */
  readonly pageBytes?: number;
};

/**
 * Validates every row of a sheet and writes it into its page. Throws {@link SheetRefused} where rows or the header are
 * wrong for this deployment, E101 to E104 where the sheet cannot be read to its end, and E201, E206 or E602 where the
 * options do not fit. Pages that were whole by then stay.
 */
export async function layOut(order: LayOutOrder): Promise<LaidOut> {
  const { source, options, inputTypes, store, errors, pageBytes = PAGE_BYTES } = order;
  const problems = new Problems(errors);
  const pages = new PageWriter(store);
  try {
    const columns = await columnsOf(source, options).catch(missing);
    const plan = mapColumns(source.name, columns, options, inputTypes);
    const names = columns.map(({ name }) => name);
    const sizes = new PageSizes(pageBytes);
    const records = recordsOf(source, options, names);
    const { rows, ...counts } = await layRows(plan, records, { pages, sizes, problems });
    if (problems.total > 0) throw await problems.refusal(source, options, rows);
    await pages.end();
    const { unused } = plan;
    return { rows, pages: pages.pages, columns: names, inputs: inputsOf(plan), unused, ...counts };
  } catch (error) {
    throw await explained(error, source, options);
  } finally {
    await pages.abandon();
    await problems.abandon();
  }
}

type Counts = Pick<LaidOut, 'rows' | 'repeats' | 'gpus' | 'content'>;

type Laying = { readonly pages: PageWriter; readonly sizes: PageSizes; readonly problems: Problems };

async function layRows(
  plan: ColumnMapping,
  records: AsyncIterable<SheetRecord>,
  { pages, sizes, problems }: Laying,
): Promise<Counts> {
  const read = rowReader(plan);
  const names = new RowNames();
  const gpus = new Map<string, number>();
  const content = createHash('sha256');
  let rows = 0;
  for (const found of plan.problems) await problems.add(found);
  for await (const record of records) {
    rows += 1;
    const row = read(record, rows);
    for (const found of row.wrong) await problems.add(found);
    if (row.wrong.length > 0 && row.key === undefined) continue;
    const { key, firstRow } = names.name(row, rows);
    if (firstRow !== undefined) {
      const place = placeOfCell(plan, record, rows, plan.keyColumn ?? 0);
      await problems.add(problem('E105', { key, row: rows, firstRow }, { place }));
    }
    const line = rowLine(rows, key, row.gpu, row.inputs);
    const overfull = sizes.add(rows, line);
    if (overfull) {
      const place = { file: plan.file, line: record.line, row: rows };
      await problems.add(problem('E108', { ...overfull, row: rows, most: sizes.mostWords }, { place }));
      // Such a sheet is made anew: reading the rest of it could take minutes and would change nothing.
      break;
    }
    // A refused sheet needs no more pages.
    if (problems.total > 0) continue;
    gpus.set(row.gpu ?? '', (gpus.get(row.gpu ?? '') ?? 0) + 1);
    content.update(line);
    const full = pages.add(line);
    if (full) await full;
  }
  const what = plan.columns.length > 0 ? 'the sheet has a header and no rows' : 'the sheet has no rows';
  if (rows === 0) throw problem('E104', { what }, { place: { file: plan.file } });
  return {
    rows,
    repeats: names.repeats,
    gpus: Object.fromEntries(gpus),
    content: content.digest('hex'),
  };
}

function inputsOf({ feeds, columns }: ColumnMapping): LaidOut['inputs'] {
  return feeds.map(({ input, kind, from }) => ({
    input,
    kind,
    from: 'json' in from ? { value: parseExactly(from.json) } : { column: columns[from.column]?.name ?? '' },
  }));
}

/** What cannot be opened is said with its place and what is near it. */
async function missing(error: unknown): Promise<never> {
  const { path, syscall } = error as NodeJS.ErrnoException;
  throw syscall === 'open' && path !== undefined ? await sheetFault(path, error) : error;
}

/** A problem is told with the line it stands in. */
async function explained(error: unknown, source: SheetSource, options: SheetOptions): Promise<unknown> {
  if (!(error instanceof RunsheetError)) return error;
  const [shown] = await withExcerpts([error], source, options);
  return shown;
}
