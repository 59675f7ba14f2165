// The page of a running batch, in the folder of the batch. The worker writes a script for each part beside the page, so that the cost
// of an update does not grow with the batch; the page polls for these scripts. For a batch in S3, and for facts that only the workflow
// knows, a server makes the same scripts from the parts.

import { inflateRawSync } from 'node:zlib';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { countRows, recordOf, rowsOf } from '../batch-rows.ts';
import type { PartNumber } from '../parts-seal.ts';
import { partNames, REUSED_PASS, type PartRanges } from '../parts.ts';
import type { RowRecord } from '../row-record.ts';
import { idleBefore, type Idle } from '../idle.ts';
import { idleTimes, type Summary } from '../summary.ts';
import { Deflated } from './deflated.ts';
import { LIVE_FILE, LIVE_ROWS, livePage, NOT_LIVE, REPORT_FILE, ROWS_EACH, shownColumns } from './report.ts';
import { ListedColumns, ReportIndex } from './report-index.ts';
import { cellOf, shownRow } from './report-row.ts';
import { NO_SMALL_COPIES, SMALL_FILE } from './small-copies.ts';

/** The state of a running batch beside its page. A batch has none if its page was only written at the end. */
export type Live = {
  /** When the newest rows were written, in milliseconds since 1970. */
  readonly at: number;
  /** Seconds between an end of the batch and its next pass. */
  readonly idleSeconds: number;
  readonly rows: number;
  /** The numbers of the first and the last part of each pass. Passes before the latest end have no parts here. */
  readonly parts: PartRanges;
  /** Only a server sends `running`, and `summary` once the batch has ended. */
  readonly running?: Running;
  readonly summary?: Summary;
};

/** The status of a running batch, as a terminal shows it; only the state is always known. */
export type Running = {
  readonly state: string;
  readonly reason?: string;
  /** The remedy for the reason; names commands as `runsheet …`. */
  readonly hint?: string;
  /** Runs in flight, and their limit. */
  readonly outstanding?: number;
  readonly allowed?: number;
  /** Rows that wait for a run. */
  readonly waiting?: number;
  readonly perMinute?: number;
  readonly etaSeconds?: number;
  readonly costUsd?: number;
  readonly aboutUsd?: number;
  /** Seconds between an end of the batch and its next pass. */
  readonly idleSeconds?: number;
  /** The time of this status, if it is not current. */
  readonly at?: number;
};

type ShownBatch = { readonly store: Store; readonly file: BatchFile };

/** Writes the page, unless it exists, with the rows that have ended so far, such as reused rows. */
export async function beginLivingPage({ store, file }: ShownBatch, startedAt: number): Promise<void> {
  if (store.localPath === undefined || (await store.exists(REPORT_FILE))) return;
  await store.update(LIVE_FILE, () => NOT_LIVE);
  await store.update(SMALL_FILE, () => NO_SMALL_COPIES);
  let rows: RowRecord[] = [];
  let part = 0;
  const show = async (): Promise<void> => {
    part += 1;
    await showPart({ store, file }, { pass: REUSED_PASS, part }, rows);
    rows = [];
  };
  if ((await partNames(store)).length > 0)
    for await (const row of rowsOf(store, file))
      if (row.record !== undefined && rows.push(recordOf(row, file)) === ROWS_EACH) await show();
  await show();
  await store.write(REPORT_FILE, await livePage(file, startedAt));
}

/** Idempotent. Called before the part is written: once a part exists, no later attempt shows it. */
export async function showPart(
  { store, file }: ShownBatch,
  { pass, part }: PartNumber,
  records: readonly RowRecord[],
): Promise<void> {
  if (store.localPath === undefined || !(await store.exists(LIVE_FILE))) return;
  const at = Date.now();
  const idle = await idleTimes(store, pass, at);
  await store.write(`${LIVE_ROWS}/${pass}-${part}.js`, await partScript(file, records, idle), 'cached');
  const rows = await countRows(store, file);
  await store.update(LIVE_FILE, (current = '') => {
    const { parts = {} } = liveIn(current) ?? {};
    const { 0: first = part, 1: last = part } = parts[pass] ?? [];
    const idleSeconds = idleBefore(idle, at) / 1000;
    const shown = { ...parts, [pass]: [Math.min(first, part), Math.max(last, part)] as const };
    return liveScript({ at, idleSeconds, rows, parts: shown });
  });
}

export const liveScript = (live: Live): Promise<string> => scriptOf(live);

export const partScript = (
  file: BatchFile,
  records: readonly RowRecord[],
  idle: readonly Idle[],
): Promise<string> => scriptOf(partOf(file, records, idle));

/** Contains only the cells of inputs. If an ended batch goes on, its page keeps the other cells. */
function partOf(file: BatchFile, records: readonly RowRecord[], idle: readonly Idle[]) {
  const startedAt = Date.parse(file.createdAt);
  const inputs = shownColumns(file).map(({ input }) => input);
  const shown = [...inputs.keys()].filter((at) => inputs[at] !== undefined);
  const columns = new ListedColumns();
  const index = new ReportIndex(columns, { rows: file.sheet.rows, shown, startedAt, idle });
  for (const record of records)
    index.add(
      record,
      inputs.map((input = '') => cellOf(record.inputs[input])),
    );
  return {
    startedAt,
    gpus: index.gpus,
    rows: records.map(({ row }) => row),
    columns: columns.all,
    full: records.map((record) => shownRow(record, [])),
  };
}
export type LivePart = ReturnType<typeof partOf>;

async function scriptOf(value: unknown): Promise<string> {
  const content = new Deflated();
  content.text(JSON.stringify(value));
  return `runsheetRows(0,"${await content.base64()}")\n`;
}

function liveIn(script: string): Live | undefined {
  const [, base64 = ''] = /"(.+)"/.exec(script) ?? [];
  if (base64 === '') return undefined;
  try {
    return JSON.parse(inflateRawSync(Buffer.from(base64, 'base64')).toString()) as Live;
  } catch {
    // A damaged page must not stop the collection of rows.
    return undefined;
  }
}
