// A batch handle for programs.

import type { Readable } from 'node:stream';
import { definedOnly } from '../../options/defined-only.ts';
import { BY_RESUME_ONLY } from '../../batch/pausing/pause-kinds.ts';
import { problem } from '../../errors/error.ts';
import { asOption } from '../../batches/questions.ts';
import type { AttemptEvent } from '../../results/all-events.ts';
import { recordOf, rowsOf, type BatchRow } from '../../results/batch-rows.ts';
import { readLatestSummary, type Summary } from '../../results/summary.ts';
import { locationOf, openBatchFolder } from '../../store/batch-folders.ts';
import type { Acknowledged } from '../../temporal/batch-control.ts';
import { takeSignals, type Abortable } from '../abortable.ts';
import { statusNow, detailsFromFolder, type BatchStatus } from './batch-status.ts';
import { followBatch, timeLimit } from './follow-batch.ts';
import { appendSheet, planAppended, type AppendPlan } from './appended-sheet.ts';
import { EndedRows, withBigints, type RowResult, EventReader, type ShownEvent } from './ended-rows.ts';
import type { Exported, ExportOptions } from './exported-batch.ts';
import { noBatch } from './find-batch.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { type Sheet, answersFrom, limitsFrom, type Limits } from '../start/program-rows.ts';
import type {
  Ack,
  AddedRows,
  AppendOptions,
  CancelOptions,
  CommandOptions,
  EventsOptions,
  LogsOptions,
  ResultOptions,
  ResumeOptions,
  RetryOptions,
  RowDetail,
  RowsOptions,
} from './handle-options.ts';
import { resumeBatch } from './resumed-batch.ts';
import { proposeRetry, sendAgain } from './retried-rows.ts';
import { findRow, readRunLog, runOf, type RowName } from './row-lines.ts';
import { placeUrl } from '../connect-options.ts';
import type { Servers } from '../servers.ts';
import { openReport, type OpenedReport, type ReportOptions } from '../report/opened-report.ts';
import { signalPass, isStarted, summaryOfDone } from '../start/start-or-attach.ts';
import { BatchPausedError } from '../thrown-errors.ts';
import { verifyBatch, type Verification, type VerifyOptions } from './verification.ts';

/** Reads and controls one batch. The methods throw E502 if there is no such batch. */
export class BatchHandle {
  /** The id of the batch. */
  readonly batchId: string;
  /** The folder of the batch, as a file URL; in S3, as `s3://bucket/…`. */
  readonly location: URL;
  readonly #servers: Servers;
  #known: FoundBatch | undefined;

  constructor(servers: Servers, batchId: string, batchFolder?: FoundBatch) {
    this.batchId = batchId;
    this.location = placeUrl(`${locationOf(servers.config.out, batchId)}/`);
    this.#servers = servers;
    this.#known = batchFolder;
  }

  /** Throws E502. */
  async #found(): Promise<FoundBatch> {
    const { config } = this.#servers;
    this.#known ??= await openBatchFolder(config.out, this.batchId);
    if (this.#known === undefined) throw await noBatch(config, this.batchId);
    return this.#known;
  }

  /** Starts no servers. Without servers, the state of a batch that has not ended is `interrupted`. */
  async status(_call?: Abortable): Promise<BatchStatus> {
    const batchFolder = await this.#found();
    const own = await detailsFromFolder(batchFolder);
    if (own.summary !== undefined) return own;
    return this.#servers.asking((_, connection) => statusNow(connection, batchFolder, own));
  }

  /** The status whenever it has changed, at most twice a second; ends with the batch. */
  async *progress(_call?: Abortable): AsyncGenerator<BatchStatus> {
    yield* followBatch(this.#servers, await this.#found());
  }

  /** Rows with an outcome, in the order in which they ended. A retried row appears again, with its new outcome. */
  async *rows({ outcome, after, follow = false }: RowsOptions = {}): AsyncGenerator<RowResult> {
    const batchFolder = await this.#found();
    const rows = new EndedRows(batchFolder, after);
    const read = async function* (hasEnded: boolean): AsyncGenerator<RowResult> {
      for await (const row of rows.read(hasEnded))
        if (outcome === undefined || outcome.includes(row.outcome)) yield row;
    };
    if (!follow) return yield* read((await summaryOfDone(batchFolder)) !== undefined);
    for await (const { summary } of followBatch(this.#servers, batchFolder, { always: true }))
      yield* read(summary !== undefined);
  }

  /**
   * The summary, when the batch has ended. Rows that failed do not reject: compare `outcomes.succeeded` with `rows`. Rejects with
   * E516 if no server runs the batch; {@link resume} continues it.
   */
  async result({ timeoutMs, onPaused }: ResultOptions = {}): Promise<Summary> {
    const batchFolder = await this.#found();
    const signal = timeLimit(this.batchId, timeoutMs);
    for await (const { state, progress } of followBatch(this.#servers, batchFolder, { signal })) {
      if (state !== 'paused' || progress === undefined || onPaused === 'wait') continue;
      const { pauses, sending, running, collecting } = progress;
      const isUsers = pauses.every(({ kind }) => BY_RESUME_ONLY.has(kind));
      // Runs sent before such a pause still end.
      if (isUsers ? sending + running + collecting > 0 : onPaused !== 'throw') continue;
      const [first] = pauses;
      if (first !== undefined) throw new BatchPausedError(this.batchId, first);
    }
    const summary = await readLatestSummary(batchFolder.store);
    if (summary !== undefined) return summary;
    throw problem('E506', { batch: this.batchId, reason: 'its folder has no summary.json' });
  }

  /** Sends nothing more; runs that were sent finish. Throws E513 if the batch has ended, E516 if no server runs it. */
  pause(reason?: string, options: Omit<CommandOptions, 'reason'> = {}): Promise<Ack> {
    const commandOptions = { ...options, ...definedOnly({ reason }) };
    return this.#command(({ batches }, batchFolder) => batches.pause(refOf(batchFolder), commandOptions));
  }

  /** Continues a paused or interrupted batch, optionally with new limits. Starts servers if none are running. */
  async resume({
    unconfirmed,
    recover = false,
    reason,
    timeoutMs,
    ...limits
  }: ResumeOptions = {}): Promise<Ack> {
    const batchFolder = await this.#unfinished();
    const onRebuilt = recover ? () => undefined : undefined;
    const how = howOf({ reason, timeoutMs });
    const change = { limits: limitsFrom(limits), unconfirmed, onRebuilt, how };
    const resumed = await resumeBatch(this.#servers, batchFolder, change);
    return ackOf(
      resumed.stays === undefined
        ? resumed.acknowledged
        : { commandId: 'recover', note: `it stays ${resumed.stays}, as a user asked before` },
    );
  }

  /** Changes limits while the batch runs. Throws as {@link pause}, and E517 if the batch refuses them. */
  async scale(limits: Limits, options: CommandOptions = {}): Promise<Ack> {
    const changed = limitsFrom(limits);
    if (Object.keys(changed).length === 0)
      throw problem('E602', { what: 'no limit is given', hint: 'for example: scale({ concurrency: 20 })' });
    await this.#servers.check(changed, await this.#unfinished());
    return this.#command(async (session, batchFolder) => {
      await this.#servers.check(changed, batchFolder, session);
      return session.batches.scale(refOf(batchFolder), changed, howOf(options));
    });
  }

  /** Sends no more rows; with `running`, also cancels the runs that were sent. Throws as {@link pause}. */
  cancel({ running = false, ...options }: CancelOptions = {}): Promise<Ack> {
    return this.#command(({ batches }, batchFolder) =>
      batches.cancel(refOf(batchFolder), running, howOf(options)),
    );
  }

  /** Sends rows again, in this batch: by default those that failed or timed out. Starts servers if none are running. */
  async retry({
    set,
    mayBuyTwice = false,
    acceptGpu = false,
    timeoutMs,
    ...filter
  }: RetryOptions = {}): Promise<AddedRows> {
    const batchFolder = await this.#found();
    if (!(await isStarted(batchFolder))) return { rows: 0 };
    const answers = answersFrom({ acceptGpu, mayBuyTwice });
    using proposal = await proposeRetry(this.#servers, batchFolder, { filter, set, answers });
    const policy = { wording: asOption };
    const how = howOf({ ...filter, timeoutMs });
    const { pass } = await sendAgain(this.#servers, batchFolder, proposal, policy, how);
    return { rows: pass?.rows ?? 0 };
  }

  /** Adds rows to this batch, which keeps its mapping. Rows that it has are left out. Throws E533 for rows that would change it. */
  async append(sheet: Sheet, options: AppendOptions = {}): Promise<AddedRows> {
    const batchFolder = await this.#found();
    const added = await appendSheet(this.#servers, batchFolder, sheet, options);
    if (added !== undefined || (await summaryOfDone(batchFolder)) === undefined)
      await signalPass(await this.#servers.for(batchFolder), batchFolder, added?.pass);
    return { rows: added === undefined ? 0 : added.appended + added.changed };
  }

  /** Plans {@link append}: the rows that it would add, and their cost. Sends nothing. */
  async planAppend(sheet: Sheet, options: AppendOptions = {}): Promise<AppendPlan> {
    return planAppended(this.#servers, await this.#found(), sheet, options);
  }

  /** Rows without an outcome, in the order of the sheet. */
  async *openRows(_call?: Abortable): AsyncGenerator<RowDetail> {
    const { store, file } = await this.#found();
    for await (const row of rowsOf(store, file)) if (row.record === undefined) yield detailOf(row, file);
  }

  /** A row by its number, or by its key. Throws E505. */
  async row(name: number | string, _call?: Abortable): Promise<RowDetail> {
    const batchFolder = await this.#found();
    return detailOf(await findRow(batchFolder, nameFrom(name)), batchFolder.file);
  }

  /** The content of a file of a row, wherever the batch is: `openFile(row.files[0].path)`. Throws E602 if there is none. */
  async openFile(path: string, _call?: Abortable): Promise<Readable> {
    const { store } = await this.#found();
    if ((await store.facts(path)) !== undefined) return store.open(path);
    const hint = 'the files of a row, each with its path: row.files';
    throw problem('E602', { what: `${this.batchId} has no file ${path}`, hint });
  }

  /** The log of a run of a row, as far as the service keeps it. Throws E505, and E519 for a row without a run. */
  async *logs(name: number | string, { attempt }: LogsOptions = {}): AsyncGenerator<string> {
    const batchFolder = await this.#found();
    const runId = runOf(batchFolder, await findRow(batchFolder, nameFrom(name)), attempt);
    await this.#servers.forRehearsal(batchFolder);
    const lines = (await readRunLog(this.#servers.config, batchFolder, runId)) ?? [];
    for (const { atMs, level, message } of lines)
      yield `${new Date(atMs).toISOString()}  ${level}  ${message}`;
  }

  /** Pauses, commands and notifications: when, who, why; with `rows` also each attempt of a row. */
  async *events({ follow = false, ...filter }: EventsOptions = {}): AsyncGenerator<
    ShownEvent | AttemptEvent
  > {
    const batchFolder = await this.#found();
    const reader = new EventReader(batchFolder, filter);
    yield* reader.fresh();
    if (!follow) return;
    for await (const _ of followBatch(this.#servers, batchFolder, { always: true })) yield* reader.fresh();
  }

  /** Compares the results with all files, their checksums, and the run list of the service. Throws E509 before the end. */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const batchFolder = await this.#found();
    if (options.lists ?? true) await this.#servers.forRehearsal(batchFolder);
    return verifyBatch(this.#servers.config, batchFolder, options);
  }

  /** Writes the results as a file, even while the batch runs: rows without an outcome are `open`. */
  async export(options: ExportOptions = {}): Promise<Exported> {
    const { exportBatch } = await import('./exported-batch.ts');
    return exportBatch(await this.#found(), options);
  }

  /**
   * The page of the batch: its file if it has ended and is on this machine, else, or with `serve`, an address of this machine that shows rows as they end,
   * until it is disposed of. `smallCopiesMs`: how long it may make small copies of pictures above 300 kB, so that the page of an
   * ended batch scrolls smoothly (default: 0, none); this needs the optional package sharp.
   */
  async report({ serve = false, smallCopiesMs = 0 }: ReportOptions = {}): Promise<OpenedReport> {
    const batchFolder = await this.#found();
    const isServed = serve || (await summaryOfDone(batchFolder)) === undefined;
    return openReport(this.#servers, batchFolder, { isServed, smallCopiesMs });
  }

  async #unfinished(): Promise<FoundBatch> {
    const batchFolder = await this.#found();
    if ((await summaryOfDone(batchFolder)) !== undefined) throw problem('E513', { batch: this.batchId });
    return batchFolder;
  }

  async #command(
    give: (session: Awaited<ReturnType<Servers['open']>>, found: FoundBatch) => Promise<Acknowledged>,
  ): Promise<Ack> {
    const batchFolder = await this.#unfinished();
    return ackOf(await this.#servers.commanding(batchFolder, (session) => give(session, batchFolder)));
  }
}

takeSignals(BatchHandle.prototype);

function detailOf(row: BatchRow, file: FoundBatch['file']): RowDetail {
  const record = withBigints(recordOf(row, file));
  return row.record === undefined ? { ...record, outcome: 'open', attempts: [], files: [] } : record;
}

const nameFrom = (name: number | string): RowName =>
  typeof name === 'number' ? { row: name } : { key: name };

// Sends the commands of a program to a batch, and returns the acknowledgement.
const howOf = ({
  reason,
  timeoutMs,
}: { readonly [K in keyof CommandOptions]: CommandOptions[K] | undefined }) =>
  definedOnly({ reason, timeoutMs });

const ackOf = ({ commandId, note }: Pick<Acknowledged, 'commandId' | 'note'>): Ack =>
  definedOnly({ commandId, at: new Date(), note });
