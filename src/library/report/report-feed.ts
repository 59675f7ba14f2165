// Feeds the page of a running batch: the scripts that its worker writes to the folder, also in S3, and the live state.

import { setTimeout as wait } from 'node:timers/promises';
import { pauseHint } from '../../batch/pausing/pause-hints.ts';
import { errorMessage, isRunsheetError } from '../../errors/error.ts';
import { partRanges } from '../../results/parts.ts';
import { liveScript, partScript, type Running } from '../../results/page/living-page.ts';
import { livePage } from '../../results/page/report.ts';
import { readStarted } from '../../store/started.ts';
import { idleBefore, type Idle } from '../../results/idle.ts';
import { idleTimes, type Summary } from '../../results/summary.ts';
import { type BatchStatus } from '../handle/batch-status.ts';
import { followBatch } from '../handle/follow-batch.ts';
import { aboutCostUsd, openSpeedometer, type Speed } from '../handle/speedometer.ts';
import { EndedRows } from '../handle/ended-rows.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { Servers } from '../servers.ts';

/** How long to wait before looking again for a batch that no server runs. */
const AWAY_MS = 5_000;
/** Answers older than this are not shown as current. */
const SILENT_MS = 5_000;

export class ReportFeed {
  readonly #servers: Servers;
  readonly #batchFolder: FoundBatch;
  readonly #rows: EndedRows;
  #status: BatchStatus | undefined;
  #answeredAt = 0;
  #trouble: string | undefined;
  readonly #speedometer = openSpeedometer();
  #speed: Speed | undefined;
  #idle: { readonly pass: number; readonly times: readonly Idle[] } = { pass: 0, times: [] };

  constructor(servers: Servers, batchFolder: FoundBatch) {
    this.#servers = servers;
    this.#batchFolder = batchFolder;
    this.#rows = new EndedRows(batchFolder, undefined);
  }

  async html(): Promise<string> {
    const { store, file } = this.#batchFolder;
    const started = await readStarted(store);
    return livePage(file, Date.parse(started?.at ?? file.createdAt));
  }

  get summary(): Summary | undefined {
    return this.#status?.summary;
  }

  /** Follows the batch until its end, even if its servers go away and return. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const status of followBatch(this.#servers, this.#batchFolder, { signal, always: true })) {
          this.#status = status;
          this.#answeredAt = Date.now();
          this.#trouble = undefined;
          const { progress } = status;
          if (progress === undefined) continue;
          this.#speed = this.#speedometer.mark(progress, performance.now());
          if (progress.pass === this.#idle.pass) continue;
          this.#idle = {
            pass: progress.pass,
            times: await idleTimes(this.#batchFolder.store, progress.pass, Date.now()),
          };
        }
        if (this.#status?.summary !== undefined) return;
      } catch (error) {
        this.#trouble = isRunsheetError(error, 'E516') ? 'no server runs it' : errorMessage(error);
      }
      await wait(AWAY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The script `report/live.js`. */
  async live(): Promise<string> {
    const { summary, progress } = this.#status ?? {};
    const at = Date.now();
    const { store, file } = this.#batchFolder;
    return liveScript({
      at,
      idleSeconds: idleBefore(this.#idle.times, at) / 1000,
      rows: summary?.rows ?? progress?.rows ?? file.sheet.rows,
      parts: await partRanges(store),
      ...(summary ? { summary } : { running: this.#running() }),
    });
  }

  /** The script of a part; empty if the batch ended without writing it. */
  async part(pass: number, part: number): Promise<string | undefined> {
    const hasEnded = this.summary !== undefined;
    const records = (await this.#rows.part(pass, part)) ?? (hasEnded ? [] : undefined);
    return records && partScript(this.#batchFolder.file, records, this.#idle.times);
  }

  #running(): Running {
    if (this.#trouble !== undefined) return { state: 'interrupted', reason: this.#trouble };
    if (this.#status !== undefined && Date.now() - this.#answeredAt > SILENT_MS) return this.#silent();
    const { state = 'loading', progress, unattended } = this.#status ?? {};
    const about = progress && aboutCostUsd(progress);
    const { perSecond = 0, etaMs } = this.#speed ?? {};
    const idleMs = idleBefore(this.#idle.times, Date.now());
    return {
      state,
      ...reasonOf(this.#batchFolder, progress, unattended),
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

  /** The state while the servers do not answer: no speed and no remaining time. */
  #silent(): Running {
    const at = this.#answeredAt;
    return {
      at,
      state: `no answer since ${new Date(at).toLocaleTimeString('en-GB')}`,
      reason: 'The servers of the batch do not answer',
      idleSeconds: idleBefore(this.#idle.times, at) / 1000,
    };
  }
}

function reasonOf(
  batchFolder: FoundBatch,
  progress: BatchStatus['progress'],
  isUnattended = false,
): Pick<Running, 'reason' | 'hint'> {
  if (isUnattended) return { reason: 'waiting for a worker', hint: 'start one: runsheet worker' };
  if (progress?.reason === undefined) return {};
  const { pauses, reason, budget } = progress;
  const [first] = pauses;
  return { reason, ...(first && { hint: pauseHint(batchFolder.batch, first, false, budget?.neededNano) }) };
}
