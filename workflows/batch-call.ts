// The options of a batch that a workflow awaits, and the call of `createBatch` that they mean.

import type { BatchCall } from '../activities/create-batch.ts';
import { AUTO_MOST } from '../src/options/bounds.ts';
import type { RetriesByKind } from '../src/options/failure-kind.ts';

type Request = BatchCall['request'];

export type ChildBatchOptions = {
  /** A path, or a file, http or https URL, that the worker can read. */
  readonly sheet: string;
  /** Its id, or its name if the name is unique. */
  readonly deployment: string;
  /**
   * Names this call: the same key always means the same batch. Default: this workflow run and the number of the call in it. A key of
   * your own, such as the number of an order, also finds the batch if the workflow itself is retried, reset or started again.
   */
  readonly key?: string;
  /** The exact name of the batch. */
  readonly batchId?: string;
  /** What to do with rows that earlier batches have (default: `refuse`, which fails the call). */
  readonly reuse?: BatchCall['reuse'];
  /** The task queue of a runsheet worker. Default: the queue of this workflow, whose worker has the plugin. */
  readonly taskQueue?: string;
  readonly concurrency?: number | 'auto';
  /** By GPU. */
  readonly gpuConcurrency?: Readonly<Record<string, number>>;
  readonly startsPerMinute?: number;
  /** For each row; or by kind of failure. */
  readonly retries?: number | RetriesByKind;
  readonly maxCostUsd?: number;
  /** Pause after so many rows without success, or after this share. */
  readonly failAfter?: number | `${number}%`;
  readonly deadline?: Date;
  /** The GPU of rows that name none. */
  readonly gpu?: string;
  /** The column that names each row. */
  readonly keyColumn?: string;
  /** Input → column, fixed inputs, ignored columns, and the types of inputs. */
  readonly map?: Readonly<Record<string, string>>;
  readonly set?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
  readonly types?: Request['options']['types'];
  readonly format?: BatchCall['format'];
  /** Shares the slots of this pool; see `runsheet pool`. */
  readonly pool?: string;
  /** Share of the pool among equally urgent batches (default: 1), and how urgent it is, from 0 (default) to 9. */
  readonly weight?: number;
  readonly urgency?: number;
  /** Who is notified of the batch: `https://…`, `slack:<name>`, `mailto:a@b`, `exec:/path/to/program`. */
  readonly notify?: readonly string[];
  /** Which rows without success are many for `notify` (default: 5 %, from 20 rows on). */
  readonly notifyFailed?: number | `${number}%`;
  /** Rows that are sent before all others. */
  readonly canary?: number;
  /** Poll the service instead of waiting for its webhooks. */
  readonly poll?: boolean;
};

export function batchCallOf(options: ChildBatchOptions, key: string): BatchCall {
  const { sheet, deployment, batchId, format, reuse } = options;
  return {
    sheet,
    key,
    ...(format === undefined ? {} : { format }),
    ...(reuse === undefined ? {} : { reuse }),
    request: {
      deployment,
      ...(batchId === undefined ? {} : { name: batchId }),
      options: sheetOptionsOf(options),
      settings: settingsOf(options),
      order: {},
    },
  };
}

const sheetOptionsOf = ({
  gpu,
  keyColumn,
  map = {},
  set = {},
  drop = [],
  types = {},
}: ChildBatchOptions): Request['options'] => ({
  ...(gpu === undefined ? {} : { gpu }),
  ...(keyColumn === undefined ? {} : { keyColumn }),
  map,
  set,
  drop,
  types,
});

const NANO = 1e9;

function settingsOf(options: ChildBatchOptions): Request['settings'] {
  const { gpuConcurrency, startsPerMinute, maxCostUsd, failAfter, deadline, canary, poll = false } = options;
  const { pool, weight, urgency, notify, notifyFailed } = options;
  return {
    ...concurrencyOf(options),
    ...retriesOf(options),
    ...(gpuConcurrency === undefined ? {} : { gpuConcurrency }),
    ...(startsPerMinute === undefined ? {} : { startsPerMinute }),
    ...(maxCostUsd === undefined ? {} : { maxCostNano: Math.round(maxCostUsd * NANO) }),
    ...(failAfter === undefined ? {} : { failAfter: failAfterOf(failAfter) }),
    ...(deadline === undefined ? {} : { deadlineAt: new Date(deadline).getTime() }),
    ...(pool === undefined ? {} : { pool }),
    ...(weight === undefined ? {} : { weight }),
    ...(urgency === undefined ? {} : { urgency }),
    ...(notify === undefined ? {} : { notify }),
    ...(notifyFailed === undefined ? {} : { notifyFailed: failAfterOf(notifyFailed) }),
    ...(canary === undefined ? {} : { canary: { rows: canary, asks: false } }),
    deadlines: {},
    webhooks: !poll,
  };
}

function concurrencyOf({
  concurrency,
}: ChildBatchOptions): Pick<Request['settings'], 'concurrency' | 'adaptive'> {
  if (concurrency === undefined) return {};
  return concurrency === 'auto' ? { concurrency: AUTO_MOST, adaptive: true } : { concurrency };
}

function retriesOf({ retries }: ChildBatchOptions): Pick<Request['settings'], 'retries' | 'retriesByKind'> {
  if (retries === undefined) return {};
  return typeof retries === 'number' ? { retries } : { retriesByKind: retries };
}

const failAfterOf = (given: number | `${number}%`) =>
  typeof given === 'number' ? { rows: given } : { share: Number.parseFloat(given) / 100 };
