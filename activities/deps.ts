// The dependencies of the activities. `src/worker/composition.ts` creates them once per worker.

import type { AsyncCompletionClient, WorkflowExecutionStatusName } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Download } from '../src/host/http/download.ts';
import type { RememberingService } from '../src/service-client/remembering.ts';
import type { PlacedRow } from '../src/sheet/placed-rows.ts';
import type { Maker } from '../src/batches/create-once.ts';
import type { BatchFile } from '../src/store/batch-file.ts';
import type { Holder } from '../src/store/holder.ts';
import type { Standing } from '../src/store/standing.ts';
import type { Store } from '../src/store/store.ts';
import type { SearchedBatch } from '../src/batch/shown/search-attributes.ts';
import type { BatchSignals } from '../src/batch/events.ts';
import type { BatchRef, Execution } from '../src/batch/workflow-ids.ts';
import type { OwnRuns } from '../src/webhook/own-runs.ts';
import type { ReportedRuns } from '../src/webhook/reported-runs.ts';
import type { WaitingGroups } from '../src/webhook/waiting-groups.ts';
import type { NoticeSettings } from '../src/notices/deliver.ts';
import type { DownloadSlots } from './download-slots.ts';

export type OpenBatch = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly service: RememberingService;
};

export type Deps = {
  /** The process of this worker, and the Temporal whose tasks it takes. */
  readonly holder: Holder;
  /** Whether this workflow run has the batch by its folder, which is read each time. */
  standing(caller: Execution | undefined, ref: BatchRef): Promise<Standing>;
  /** Throws if the folder does not hold this batch, or if this worker has no key for its service. */
  open(ref: BatchRef): Promise<OpenBatch>;
  readRows(
    open: Pick<OpenBatch, 'store' | 'file'>,
    places: readonly number[],
  ): Promise<ReadonlyMap<number, PlacedRow>>;
  readonly completion: AsyncCompletionClient;
  readonly signals: BatchSignals;
  readonly waitingGroups: Pick<WaitingGroups, 'wait'>;
  readonly ownRuns: Pick<OwnRuns, 'accepted' | 'taken' | 'ended'>;
  readonly reported: Pick<ReportedRuns, 'has' | 'held'>;
  readonly download: Download;
  readonly downloadSlots: Pick<DownloadSlots, 'run'>;
  readonly webhooks: {
    readonly secret: string;
    /** The receiver's address as the batch's service reaches it; undefined if there is none. */
    readonly receiver: (file: BatchFile) => string | undefined;
  };
  /** The status of the batch's workflow; undefined if Temporal does not know it. */
  statusOf(ref: BatchRef): Promise<WorkflowExecutionStatusName | undefined>;
  /** Makes the workflow of a pipeline look again, if one runs. */
  wakePipeline(pipeline: { readonly pipeline: string; readonly mark: string }): Promise<unknown>;
  readonly notices: NoticeSettings;
  readonly posts: PostsOnWire;
  readonly maker: Omit<Maker, 'signal'> & {
    readonly isEncrypted: boolean;
    /** The search attributes with which the workflow of a batch starts, as Temporal's server knows them. */
    searchAttributes(batch: SearchedBatch): Promise<readonly SearchAttributePair[]>;
  };
  readonly log: Logger;
};

export type PostsOnWire = {
  /** Aborted when this worker stops: from then on it starts no POST. */
  readonly stopping: AbortSignal;
  began(): void;
  answered(): void;
};
