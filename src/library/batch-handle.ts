// One batch, as a program sees it.

import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import type { Outcome } from '../batch/outcome.ts';
import { BY_RESUME_ONLY } from '../batch/pause-kinds.ts';
import { problem } from '../errors/error.ts';
import { readLatestSummary, type Summary } from '../results/summary.ts';
import { openBatchFolder } from '../store/batch-folders.ts';
import type { Acknowledged } from '../temporal/batch-control.ts';
import { liveStatus, statusFromFolder, type BatchStatus } from './batch-status.ts';
import { EndedRows, type Cursor, type RowResult } from './ended-rows.ts';
import { followBatch } from './followed-batch.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { limitChangeOf, type Limits } from './given-limits.ts';
import type { Servers } from './servers.ts';
import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { BatchPausedError } from './thrown-errors.ts';

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

const ackOf = ({ commandId, note }: Acknowledged): Ack => ({
  commandId,
  at: new Date(),
  ...(note === undefined ? {} : { note }),
});
