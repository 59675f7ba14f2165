// What the page of a running batch asks for: the rows that have ended since the last time, and the full cells of one row.

import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage, isRunsheetError } from '../../errors/error.ts';
import { recordOf, rowOf } from '../../results/batch-rows.ts';
import { inputsOfColumns, liveRow, type LiveRow, shownRow } from '../../results/page/report-row.ts';
import { livePage } from '../../results/page/report.ts';
import { readStarted } from '../../store/batch-file.ts';
import type { Summary } from '../../results/summary.ts';
import type { BatchStatus } from '../handle/batch-status.ts';
import { EndedRows } from '../handle/ended-rows.ts';
import { followBatch } from '../handle/followed-batch.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { Servers } from '../servers.ts';

/** Rows of one answer, and how long to wait before a batch that no server runs is looked for again. */
const ROWS_EACH = 2_000;
const AWAY_MS = 5_000;

export type News = {
  readonly rows: readonly LiveRow[];
  readonly cursor: string;
  /** How many rows the batch has. */
  readonly total: number;
  /** More rows have ended. */
  readonly hasMore: boolean;
  readonly running?: { readonly state: string; readonly reason?: string };
  readonly summary?: Summary;
};

export class ReportFeed {
  readonly #servers: Servers;
  readonly #found: FoundBatch;
  readonly #inputs: readonly (string | undefined)[];
  readonly #page: Awaited<ReturnType<typeof livePage>>;
  #status: BatchStatus | undefined;
  #trouble: string | undefined;
  /** The reader that stands where the last answer ended. */
  #reader: { readonly cursor: string; readonly rows: EndedRows } | undefined;

  private constructor(servers: Servers, found: FoundBatch, page: Awaited<ReturnType<typeof livePage>>) {
    this.#servers = servers;
    this.#found = found;
    this.#page = page;
    this.#inputs = inputsOfColumns(found.file, page.columns);
  }

  static async open(servers: Servers, found: FoundBatch): Promise<ReportFeed> {
    const started = await readStarted(found.store);
    return new ReportFeed(
      servers,
      found,
      await livePage(found.file, Date.parse(started?.at ?? found.file.createdAt)),
    );
  }

  get html(): string {
    return this.#page.html;
  }

  /** Whether the batch has ended. */
  get summary(): Summary | undefined {
    return this.#status?.summary;
  }

  /** Follows the batch until its end, also if its servers go away and come back. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const status of followBatch(this.#servers, this.#found, { signal })) {
          this.#status = status;
          this.#trouble = undefined;
        }
        if (this.#status?.summary !== undefined) return;
      } catch (error) {
        this.#trouble = isRunsheetError(error, 'E516') ? 'no server runs it' : errorMessage(error);
      }
      await wait(AWAY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Throws E602 for another text than a cursor. */
  async news(after: string): Promise<News> {
    const { summary, progress } = this.#status ?? {};
    const known = this.#reader?.cursor === after ? this.#reader.rows : undefined;
    const reader = known ?? new EndedRows(this.#found, after === '' ? undefined : after);
    this.#reader = undefined;
    const rows: LiveRow[] = [];
    let cursor = after;
    for await (const row of reader.read(summary !== undefined)) {
      rows.push(liveRow(row, this.#inputs));
      ({ cursor } = row);
      if (rows.length === ROWS_EACH) break;
    }
    this.#reader = { cursor, rows: reader };
    const total = summary?.rows ?? progress?.rows ?? this.#found.file.sheet.rows;
    const hasMore = rows.length === ROWS_EACH;
    return { rows, cursor, total, hasMore, ...(summary ? { summary } : { running: this.#running() }) };
  }

  /** The full cells of a row; undefined if the batch has no such row. */
  async detail(row: number): Promise<object | undefined> {
    const found = await rowOf(this.#found.store, this.#found.file, row);
    if (found === undefined) return undefined;
    return shownRow({ ...recordOf(found), ...(found.record ? {} : { reason: 'not done yet' }) }, []);
  }

  #running(): NonNullable<News['running']> {
    if (this.#trouble !== undefined) return { state: 'interrupted', reason: this.#trouble };
    const { state = 'loading', progress } = this.#status ?? {};
    return { state, ...(progress?.reason === undefined ? {} : { reason: progress.reason }) };
  }
}
