// What the page of a running batch asks for: the rows that have ended since the last time, and the full cells of one row.

import { setTimeout as wait } from 'node:timers/promises';
import { dirname } from 'node:path';
import { pauseHint } from '../../batch/pausing/pause-kinds.ts';
import { errorMessage, isRunsheetError } from '../../errors/error.ts';
import { recordOf, rowOf } from '../../results/batch-rows.ts';
import { inputsOfColumns, liveRow, type LiveRow, shownRow } from '../../results/page/report-row.ts';
import type { News, Running } from '../../results/page/living-page.ts';
import { livePage } from '../../results/page/report.ts';
import { readStarted } from '../../store/batch-file.ts';
import { idleBefore, idleTimes, type Idle, type Summary } from '../../results/summary.ts';
import {
  type BatchStatus,
  followBatch,
  aboutCostUsd,
  openSpeedometer,
  type Speed,
} from '../handle/batch-status.ts';
import { EndedRows } from '../handle/ended-rows.ts';
import { workerCommand, type FoundBatch } from '../handle/found-batch.ts';
import type { Servers } from '../servers.ts';

/** Rows of one answer, and how long to wait before a batch that no server runs is looked for again. */
const ROWS_EACH = 2_000;
const AWAY_MS = 5_000;

export class ReportFeed {
  readonly #servers: Servers;
  readonly #found: FoundBatch;
  readonly #inputs: readonly (string | undefined)[];
  readonly #page: Awaited<ReturnType<typeof livePage>>;
  #status: BatchStatus | undefined;
  #trouble: string | undefined;
  readonly #speedometer = openSpeedometer();
  #speed: Speed | undefined;
  #idle: { readonly pass: number; readonly times: readonly Idle[] } = { pass: 0, times: [] };
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
      await livePage(found.file, Date.parse(started?.at ?? found.file.createdAt), dirname(found.folder)),
    );
  }

  get html(): string {
    return this.#page.html;
  }

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
          const { progress } = status;
          if (progress === undefined) continue;
          this.#speed = this.#speedometer.mark(progress, performance.now());
          if (progress.pass === this.#idle.pass) continue;
          this.#idle = {
            pass: progress.pass,
            times: await idleTimes(this.#found.store, progress.pass, Date.now()),
          };
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
      rows.push(liveRow(row, this.#inputs, this.#idle.times));
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

  #running(): Running {
    if (this.#trouble !== undefined) return { state: 'interrupted', reason: this.#trouble };
    const { state = 'loading', progress, unattended } = this.#status ?? {};
    const about = progress && aboutCostUsd(progress);
    const { perSecond = 0, etaMs } = this.#speed ?? {};
    const idleMs = idleBefore(this.#idle.times, Date.now());
    return {
      state,
      ...reasonOf(this.#found, progress, unattended),
      ...(progress && {
        outstanding: progress.sending + progress.running + progress.unconfirmed,
        allowed: progress.slots ?? progress.concurrency,
        waiting: progress.unsent + progress.retrying,
        perMinute: perSecond * 60,
        costUsd: progress.costUsd,
      }),
      ...(etaMs !== undefined && { etaSeconds: etaMs / 1000 }),
      ...(about !== undefined && { aboutUsd: about }),
      ...(idleMs > 0 && { idleSeconds: idleMs / 1000 }),
    };
  }
}

function reasonOf(
  found: FoundBatch,
  progress: BatchStatus['progress'],
  isUnattended = false,
): Pick<Running, 'reason' | 'hint'> {
  if (isUnattended) return { reason: 'waiting for a worker', hint: `start one: ${workerCommand(found)}` };
  if (progress?.reason === undefined) return {};
  const { pauses, reason, maxCostNano } = progress;
  const [first] = pauses;
  return { reason, ...(first && { hint: pauseHint(found.batch, first.kind, false, maxCostNano) }) };
}
