// What the activities work with. One value of this type is composed at the root of each worker.

import type { AsyncCompletionClient } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Download } from '../src/run-service/download.ts';
import type { RememberingService } from '../src/run-service/remembering.ts';
import type { SheetRow } from '../src/sheet/pages.ts';
import type { BatchFile } from '../src/store/batch-file.ts';
import type { Store } from '../src/store/store.ts';
import type { BatchSignals } from '../src/batch/signals.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { DeliveredFiles } from './delivered-files.ts';

/** A batch as an activity finds it: its batch.json, its files, and the service that it calls. */
export type OpenBatch = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly service: RememberingService;
};

export type Deps = {
  /** Throws where the folder holds no such batch, or this worker has no key for its service. */
  open(ref: BatchRef): Promise<OpenBatch>;
  /** Rows by number, from their pages. */
  readRows(
    open: Pick<OpenBatch, 'store' | 'file'>,
    rows: readonly number[],
  ): Promise<ReadonlyMap<number, SheetRow>>;
  /** Completing and heartbeating activities by their task token. */
  readonly completion: AsyncCompletionClient;
  readonly signals: BatchSignals;
  /** Resolves when this worker next signals completed runs to the batch; immediately if none are on their way. */
  readonly nextSignal: (ref: BatchRef) => Promise<void>;
  /** Runs whose end this worker has signalled. */
  readonly reported: { has(runId: string): boolean; add(runId: string): void };
  readonly download: Download;
  /** Files that this process has stored. */
  readonly delivered: DeliveredFiles;
  readonly webhooks: {
    readonly secret: string;
    /** The address at which the batch's service reaches this worker's receiver; undefined where there is none. */
    readonly receiver: (file: BatchFile) => string | undefined;
  };
  readonly posts: PostsOnWire;
  readonly log: Logger;
};

/** The Queue Run calls of a worker that have begun and have no answer. */
export type PostsOnWire = {
  /** Aborted when this worker is asked to end: no POST begins any more. */
  readonly stopping: AbortSignal;
  began(): void;
  answered(): void;
};
