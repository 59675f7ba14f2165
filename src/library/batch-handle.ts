// One batch, as a program sees it.

import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import type { Outcome } from '../batch/outcome.ts';
import { BY_RESUME_ONLY } from '../batch/pause-kinds.ts';
import { problem } from '../errors/error.ts';
import { addPass, candidates } from '../create-batch/add-pass.ts';
import { recordOf } from '../results/batch-rows.ts';
import type { RowRecord } from '../results/row-record.ts';
import { readLatestSummary, type Summary } from '../results/summary.ts';
import { STARTED_FILE } from '../store/batch-file.ts';
import { openBatchFolder } from '../store/batch-folders.ts';
import type { Acknowledged } from '../temporal/batch-control.ts';
import { liveStatus, statusFromFolder, type BatchStatus } from './batch-status.ts';
import { appendSheet } from './appended-sheet.ts';
import { EndedRows, withBigints, type Cursor, type RowResult } from './ended-rows.ts';
import { followBatch } from './followed-batch.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { limitChangeOf, type Limits } from './given-limits.ts';
import type { Sheet } from './given-rows.ts';
import { inputChangeOf, passParams, perhapsPaid, type RetryFilter } from './retried-rows.ts';
import { findRow, readRunLog, type RowName } from './run-log.ts';
import type { Servers } from './servers.ts';
import { eventsOf, type ShownEvent } from './shown-events.ts';
import { refuseUnknownRows } from './unknown-rows.ts';
import { signalPass } from './signal-pass.ts';
import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { BatchPausedError } from './thrown-errors.ts';
import { verification, type Verification } from './verification.ts';

/** A command is in force. */
export type Ack = {
  readonly commandId: string;
  readonly at: Date;
  /** What the batch says about it. */
  readonly note?: string;
};

export type RowsOptions = {
  /** Only rows with these outcomes. */
  readonly outcome?: readonly Outcome[];
  /** Continues after the row with this cursor. */
  readonly after?: Cursor;
  /** Until the batch has ended; otherwise the rows that have ended by now. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
};

export type ResultOptions = {
  readonly signal?: AbortSignal;
  /**
   * `throw`: rejects with {@link BatchPausedError} at any pause; `wait`: at none. Default: at pauses that only `resume()` ends, such as
   * a budget that is spent.
   */
  readonly onPaused?: 'wait' | 'throw';
};

export type RetryOptions = RetryFilter & {
  /** Other inputs for these rows. */
  readonly set?: Readonly<Record<string, string>>;
  /** Needed for rows that succeeded or are unknown: they may have a run that was paid for. */
  readonly mayBuyTwice?: boolean;
};

/** How many rows are sent. */
export type AddedRows = { readonly rows: number };

export type EventsOptions = { readonly follow?: boolean; readonly signal?: AbortSignal };

/** A row, also one without an outcome. */
export type RowDetail = Omit<RowRecord, 'outcome'> & { readonly outcome: Outcome | 'open' };

export class BatchHandle {
  readonly batchId: string;
  /** The folder of the batch, as a file URL. */
  readonly location: URL;
  readonly #servers: Servers;
  #known: FoundBatch | undefined;

  constructor(servers: Servers, batchId: string, known?: FoundBatch) {
    this.batchId = batchId;
    this.location = pathToFileURL(join(servers.config.out, batchId, '/'));
    this.#servers = servers;
    this.#known = known;
  }

  /** Throws E502. */
  async #found(): Promise<FoundBatch> {
    const { out } = this.#servers.config;
    this.#known ??= await openBatchFolder(out, this.batchId);
    if (this.#known === undefined)
      throw problem('E502', { batch: this.batchId, out, known: [], near: undefined });
    return this.#known;
  }

  /** Starts no servers: without any, the state of a batch that has not ended is `interrupted`. */
  async status(): Promise<BatchStatus> {
    const found = await this.#found();
    const own = await statusFromFolder(found);
    if (own.summary !== undefined) return own;
    const { session, leave } = await this.#servers.join();
    try {
      return session === undefined ? own : await liveStatus(session, found, own);
    } finally {
      await leave();
    }
  }

  /** The status whenever it has changed, at most twice a second; ends with the batch. */
  async *progress(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<BatchStatus> {
    yield* followBatch(this.#servers, await this.#found(), options);
  }

  /** Rows with an outcome, in the order in which they ended. A row that is sent again comes again, with its new outcome. */
  async *rows({ outcome, after, follow = false, signal }: RowsOptions = {}): AsyncGenerator<RowResult> {
    const found = await this.#found();
    const rows = new EndedRows(found, after);
    const read = async function* (hasEnded: boolean): AsyncGenerator<RowResult> {
      for await (const row of rows.read(hasEnded))
        if (outcome === undefined || outcome.includes(row.outcome)) yield row;
    };
    if (!follow) return yield* read((await summaryOfDone(found)) !== undefined);
    for await (const { summary } of followBatch(this.#servers, found, { signal, always: true }))
      yield* read(summary !== undefined);
  }

  /**
   * The summary, when the batch has ended. Rows that failed do not reject: compare `outcomes.succeeded` with `rows`. Rejects with
   * E516 if no server runs the batch; {@link resume} continues it.
   */
  async result({ signal, onPaused }: ResultOptions = {}): Promise<Summary> {
    const found = await this.#found();
    for await (const { state, progress } of followBatch(this.#servers, found, { signal })) {
      if (state !== 'paused' || progress === undefined || onPaused === 'wait') continue;
      const { pauses, sending, running, collecting } = progress;
      const isUsers = pauses.every(({ kind }) => BY_RESUME_ONLY.has(kind));
      // What was sent before such a pause still ends.
      if (isUsers ? sending + running + collecting > 0 : onPaused !== 'throw') continue;
      const [first] = pauses;
      if (first !== undefined) throw new BatchPausedError(this.batchId, first);
    }
    const summary = await readLatestSummary(found.store);
    if (summary !== undefined) return summary;
    throw problem('E506', { batch: this.batchId, reason: 'its folder has no summary.json' });
  }

  /** Sends nothing more; runs that were sent finish. Throws E513 if the batch has ended, E516 if no server runs it. */
  pause(reason?: string): Promise<Ack> {
    return this.#command(({ batches }, found) =>
      batches.pause(refOf(found), reason === undefined ? {} : { reason }),
    );
  }

  /** Continues a paused or interrupted batch, also with other limits. Starts servers if none are running. */
  async resume(limits: Limits = {}): Promise<Ack> {
    const found = await this.#unfinished();
    const changed = limitChangeOf(limits);
    const session = await this.#servers.for(found);
    await startOrAttach(session, found);
    const decided = Object.keys(changed).length === 0 ? {} : { limits: changed };
    return ackOf(await session.batches.resume(refOf(found), decided));
  }

  /** Changes limits while the batch runs. Throws as {@link pause}, and E517 if the batch refuses them. */
  scale(limits: Limits): Promise<Ack> {
    return this.#command(({ batches }, found) => batches.scale(refOf(found), limitChangeOf(limits)));
  }

  /** Sends no more rows; with `running`, also cancels the runs that were sent. Throws as {@link pause}. */
  cancel({ running = false }: { readonly running?: boolean } = {}): Promise<Ack> {
    return this.#command(({ batches }, found) => batches.cancel(refOf(found), running));
  }

  /** Sends rows again, in this batch: by default those that failed or timed out. Starts servers if none are running. */
  async retry({ set, mayBuyTwice = false, ...filter }: RetryOptions = {}): Promise<AddedRows> {
    const found = await this.#found();
    if (!(await found.store.exists(STARTED_FILE))) return { rows: 0 };
    await refuseUnknownRows(found, filter);
    const { config } = this.#servers;
    const session = await this.#servers.for(found);
    const params = passParams(filter, set && (await inputChangeOf(config, found, set)));
    const wanted = await candidates(found, params);
    const costly = perhapsPaid(wanted.outcomes);
    if (costly > 0 && !mayBuyTwice)
      throw problem('E602', {
        what: `this may buy runs a second time: ${costly} of ${wanted.rows} rows succeeded or may have a run that was paid for`,
        hint: 'if that is meant, add mayBuyTwice: true',
      });
    const pass = await addPass(found, params, wanted);
    if (pass === undefined) await startOrAttach(session, found);
    else await signalPass(session, found, pass.pass, {});
    return { rows: pass?.rows ?? 0 };
  }

  /** Adds rows to this batch, which keeps its mapping. Rows that it has are left out. Throws E533 for rows that would change it. */
  async append(sheet: Sheet): Promise<AddedRows> {
    const found = await this.#found();
    const session = await this.#servers.for(found);
    const { pass, rows } = await appendSheet(this.#servers.config, found, sheet);
    if (pass !== undefined) await signalPass(session, found, pass, {});
    else if ((await summaryOfDone(found)) === undefined) await startOrAttach(session, found);
    return { rows };
  }

  /** A row by its number, or by its key. Throws E505. */
  async row(name: number | string): Promise<RowDetail> {
    const one = await findRow(await this.#found(), nameFrom(name));
    const record = withBigints(recordOf(one));
    return one.record === undefined ? { ...record, outcome: 'open', attempts: [], files: [] } : record;
  }

  /** The log of the last run of a row, as far as the service keeps it. Throws E505, and E519 for a row without a run. */
  async *logs(name: number | string): AsyncGenerator<string> {
    const { lines = [] } = await readRunLog(this.#servers.config, await this.#found(), nameFrom(name));
    for (const { atMs, level, message } of lines)
      yield `${new Date(atMs).toISOString()}  ${level}  ${message}`;
  }

  /** Pauses and commands: when, who, why. With `follow`, until the batch has ended. */
  async *events({ follow = false, signal }: EventsOptions = {}): AsyncGenerator<ShownEvent> {
    const found = await this.#found();
    const shown = new Set<string>();
    const fresh = async (): Promise<readonly ShownEvent[]> =>
      (await eventsOf(found)).filter((event) => {
        const text = JSON.stringify(event);
        return !shown.has(text) && shown.add(text);
      });
    yield* await fresh();
    if (!follow) return;
    for await (const _ of followBatch(this.#servers, found, { signal, always: true })) yield* await fresh();
  }

  /** Compares the results with all files, their checksums, and the run list of the service. Throws E509 before the end. */
  async verify(): Promise<Verification> {
    const found = await this.#found();
    const summary = await summaryOfDone(found);
    if (summary === undefined) throw problem('E509', { batch: this.batchId });
    return verification(this.#servers.config, found, summary, true);
  }

  async #unfinished(): Promise<FoundBatch> {
    const found = await this.#found();
    if ((await summaryOfDone(found)) !== undefined) throw problem('E513', { batch: this.batchId });
    return found;
  }

  async #command(
    give: (session: Awaited<ReturnType<Servers['open']>>, found: FoundBatch) => Promise<Acknowledged>,
  ): Promise<Ack> {
    const found = await this.#unfinished();
    return ackOf(await this.#servers.commanding(found, (session) => give(session, found)));
  }
}

const nameFrom = (name: number | string): RowName =>
  typeof name === 'number' ? { row: name } : { key: name };

const ackOf = ({ commandId, note }: Acknowledged): Ack => ({
  commandId,
  at: new Date(),
  ...(note === undefined ? {} : { note }),
});
