// What the activities are given to work with. One value of this type is composed at the root of each worker.

import type { AsyncCompletionClient } from '@temporalio/client';
import type { Logger } from 'pino';
import type { RememberingService } from '../src/run-service/remember.ts';
import type { SheetRow } from '../src/sheet/pages.ts';
import type { BatchFile } from '../src/store/batch-file.ts';
import type { Store } from '../src/store/store.ts';
import type { End, Overdue, Seen } from '../src/batch/messages.ts';
import type { DownloadDeps } from './download-outputs.ts';

export type BatchPlace = { readonly batch: string; readonly folder: string };

/** A batch as an activity finds it: its frozen order, its files, and the service that it speaks to. */
export type OpenBatch = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly service: RememberingService;
};

export type Hands = {
  /** Throws where the folder holds no such batch or this worker has no key for its service. */
  open(place: BatchPlace): Promise<OpenBatch>;
  /** Rows by number, from their pages. */
  readRows(store: Store, rows: readonly number[]): Promise<ReadonlyMap<number, SheetRow>>;
  /** Completing and heartbeating activities by their task token. */
  readonly activities: AsyncCompletionClient;
  readonly batches: BatchLine;
  /** Resolves when this worker next tells the batch of ended runs, at once where that is not about to happen. */
  readonly ride: (batch: string) => Promise<void>;
  readonly download: DownloadDeps['download'];
  readonly delivered: DownloadDeps['delivered'];
  readonly webhooks: {
    readonly secret: string;
    /** The public address of this worker's receiver; undefined where it has none. */
    readonly receiver: () => string | undefined;
  };
  readonly wire: Wire;
  readonly log: Logger;
};

/** What running batches are told. */
type BatchLine = {
  tellEnds(batch: string, by: 'webhook' | 'look', ends: readonly End[]): Promise<unknown>;
  tellSeen(batch: string, seen: readonly Seen[]): Promise<unknown>;
  tellOverdue(batch: string, runs: readonly Overdue[]): Promise<unknown>;
  tellRead(batch: string, told: { readonly reason?: string }): Promise<unknown>;
};

/** The worker's view of its Queue Run calls. */
export type Wire = {
  /** Aborted when this worker is asked to end: no POST begins any more. */
  readonly stopping: AbortSignal;
  began(): void;
  answered(): void;
};
