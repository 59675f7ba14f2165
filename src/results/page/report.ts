// Writes report.html: one page that opens offline from the folder, with an index of all rows; their full cells are beside it. Text
// from sheets and services is data in it, never markup: the page's script inserts it as text.

import { dirname } from 'node:path';
import { programAnywhere } from '../../host/package-version.ts';
import { definedOnly } from '../../options/defined-only.ts';
import type { Idle } from '../idle.ts';
import type { Summary } from '../summary.ts';
import { OUTCOMES } from '../../batch/outcome.ts';
import { FAILURE_KINDS } from '../../options/facts/failure-kind.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { ownColumns, sentColumn } from '../../sheet/result-columns.ts';
import { templatedInputs } from '../sent-texts.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import { Pieces } from '../../store/pieces.ts';
import type { Store } from '../../store/store.ts';
import type { RowRecord } from '../row-record.ts';
import { htmlPage } from './page-source.ts';
import {
  COLUMNS_SHOWN,
  COST_UNIT,
  DeflatedColumns,
  LEAD_MS,
  ReportIndex,
  TICK_MS,
  type Blob,
} from './report-index.ts';
import { NO_SMALL_COPIES, SMALL_FILE } from './small-copies.ts';
import { Deflated } from './deflated.ts';
import { shownRow } from './report-row.ts';

export const REPORT_FILE = 'report.html';
export const ROWS_EACH = 2_000;

type ReportParams = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly startedAt: number;
  readonly rows: number;
  /** Charts leave these times out. */
  readonly idle?: readonly Idle[];
  /** Called before files get their final names. */
  readonly confirm: () => Promise<void>;
};

/** `add` returns a promise if the caller has to wait before the next row. */
export function reportWriter({ file, store, startedAt, rows, confirm, idle = [] }: ReportParams) {
  const columns = new DeflatedColumns();
  const shown = [...shownColumns(file).keys()];
  const index = new ReportIndex(columns, { rows, startedAt, idle, shown });
  const files = rowFiles(store, columnsOf(file), confirm);
  const add = (record: RowRecord, cells: readonly string[]): Promise<void> | undefined => {
    index.add(record, cells);
    return files.add(record, cells);
  };
  const write = async (summary: Summary): Promise<void> => {
    await files.end();
    const page = new Pieces(() => store.draft(REPORT_FILE, 'view'));
    try {
      const out = store.localPath === undefined ? dirname(store.location) : undefined;
      const facts = factsOf(file, { rows, startedAt, gpus: index.gpus, out, summary });
      for await (const piece of pageOf(facts, columns.blobs())) await page.add(piece);
      await confirm();
      await store.update(SMALL_FILE, () => NO_SMALL_COPIES);
      await page.commit();
      await endLivingPage(store);
    } finally {
      await page.discard();
    }
  };
  return { add, write };
}

// The files beside the page while the batch runs; see living-page.ts.
export const LIVE_FILE = 'report/live.js';
export const LIVE_ROWS = 'report/live';
export const NOT_LIVE = 'runsheetRows(0,"")\n';

/** Removes the scripts of parts: the final page contains all rows. */
async function endLivingPage(store: Store): Promise<void> {
  await store.update(LIVE_FILE, () => NOT_LIVE);
  await store.clear(LIVE_ROWS);
}

/** The columns of the sheet and the texts of templates, with the input that each one fills. */
function columnsOf(file: Pick<BatchFile, 'sheet'>) {
  const { sheet } = file;
  const inputs = new Map(
    sheet.inputs.flatMap(({ input, from }) => ('column' in from ? [[from.column, input] as const] : [])),
  );
  const own = ownColumns(sheet.columns).map((name) => ({ name, input: inputs.get(name) }));
  return [...own, ...templatedInputs(file).map((input) => ({ name: sentColumn(input), input }))];
}

/** The columns that a page shows. */
export const shownColumns = (file: Pick<BatchFile, 'sheet'>) => columnsOf(file).slice(0, COLUMNS_SHOWN);

type PageFacts = {
  readonly rows: number;
  readonly startedAt: number;
  readonly gpus: readonly string[];
  /** The folder of the batches, if the page cannot derive it from its own address. */
  readonly out?: string | undefined;
  /** undefined while the batch runs. */
  readonly summary?: Summary;
};

function factsOf(file: BatchFile, facts: PageFacts) {
  const shown = shownColumns(file);
  return definedOnly({
    batch: file.batch,
    mark: file.mark,
    deployment: terminalLine(file.deployment.name ?? file.deployment.id),
    rehearsal: file.service.rehearsal,
    sheet: { name: file.sheet.name, sha256: file.sheet.sha256 },
    columns: shown.map(({ name }) => name),
    /** The columns that are axes of the batch's grid. */
    axes: file.sheet.grid,
    /** How the program was called. */
    program: programAnywhere(),
    outcomes: OUTCOMES,
    failureKinds: FAILURE_KINDS,
    tickMs: TICK_MS,
    leadMs: LEAD_MS,
    costUnit: COST_UNIT,
    rowsEach: ROWS_EACH,
    ...facts,
  });
}
export type ReportFacts = ReturnType<typeof factsOf>;

/** The page of a running batch, which loads its rows from the files beside it. */
export async function livePage(file: BatchFile, startedAt: number): Promise<string> {
  const facts = factsOf(file, { rows: file.sheet.rows, startedAt, gpus: [''] });
  return (await Array.fromAsync(pageOf(facts, []))).join('');
}

/** The page in pieces. */
const pageOf = (facts: ReportFacts, blobs: Iterable<Blob> | AsyncIterable<Blob>) =>
  htmlPage({ name: 'report', title: facts.batch, facts, blobs });

export const rowsFile = (number: number): string => `report/rows/${String(number).padStart(5, '0')}.js`;

/**
 * Writes the full cells of the rows beside the report, 2,000 rows a file. The files are scripts, because a page that was opened from a
 * folder can load nothing else. The page loads a file when it shows one of its rows.
 */
function rowFiles(store: Store, columns: ReturnType<typeof columnsOf>, confirm: ReportParams['confirm']) {
  let rows = new Deflated();
  let count = 0;
  const write = async (): Promise<void> => {
    const number = Math.ceil(count / ROWS_EACH);
    rows.text(']');
    const script = `runsheetRows(${number},"${await rows.base64()}")\n`;
    rows = new Deflated();
    const draft = await store.draft(rowsFile(number), 'view');
    try {
      await draft.write(script);
      await confirm();
      await draft.commit();
    } finally {
      await draft.discard();
    }
  };
  return {
    /** Adds rows in order. Returns a promise if a file has to be written before the next row. */
    add(record: RowRecord, cells: readonly string[]): Promise<void> | undefined {
      const data = columns.flatMap(({ name, input }, at) =>
        input === undefined ? [[name, cells[at] ?? ''] as const] : [],
      );
      rows.text(`${count % ROWS_EACH === 0 ? '[' : ',\n'}${JSON.stringify(shownRow(record, data))}`);
      count += 1;
      return count % ROWS_EACH === 0 ? write() : undefined;
    },
    async end(): Promise<void> {
      if (count % ROWS_EACH !== 0) await write();
    },
  };
}
