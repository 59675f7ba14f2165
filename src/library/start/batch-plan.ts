// What a sheet would become, without sending anything.

import { planBatch, type DraftBatch, type EarlierBatches } from '../../create-batch/create-batch.ts';
import { queueToWire } from '../../run-service/contract/queue.ts';
import { cacheRows } from '../../sheet/placed-rows.ts';
import type { BatchOptions } from './batch-options.ts';
import { estimateOf, type Estimate } from './estimate.ts';
import type { Source } from './given-source.ts';
import type { Servers } from '../servers.ts';
import { withBatch } from './start-batch.ts';

/** What a sheet would become. */
export type Plan = {
  /** The batch that `start` would make. */
  readonly batchId: string;
  /** The number of rows. */
  readonly rows: number;
  /** Rows by the GPU that they ask for; '' for rows that name none. */
  readonly gpus: Readonly<Record<string, number>>;
  /** The most runs at the same time. */
  readonly concurrency: number;
  /** Cost and time, each with an interval of 90 %. */
  readonly estimate: Estimate;
  /** What earlier batches have of these rows. */
  readonly earlier: EarlierBatches;
  /** The numbers of the rows that are sent first. */
  readonly canary?: readonly number[];
  /** The first requests, as they would be sent. */
  readonly requests: readonly object[];
};

/** Throws the errors of `start` about the sheet and the options. */
export function planOf(servers: Servers, source: Source, options: BatchOptions): Promise<Plan> {
  return withBatch(servers, source, options, false, async (params, { made }) => {
    const { draft, ...planned } = await planBatch(params, options.reuse === 'reuse');
    const earlier = made === undefined ? planned : { same: made.batch };
    const { batch, file, laidOut } = draft;
    return {
      batchId: batch,
      rows: file.sheet.rows,
      gpus: laidOut.gpus,
      concurrency: file.concurrency,
      estimate: await estimateOf(params.out, draft),
      earlier,
      ...(draft.canary && { canary: draft.canary }),
      requests: await firstRequests(draft),
    };
  });
}

const SHOWN_REQUESTS = 3;

export async function firstRequests({ file, layout }: DraftBatch): Promise<readonly object[]> {
  const { reused = 0, rows: all } = file.sheet;
  const places = Array.from({ length: Math.min(SHOWN_REQUESTS, all - reused) }, (_, at) => at + 1);
  const rows = await cacheRows(SHOWN_REQUESTS)(layout, file.sheet, places);
  return [...rows].map(([place, row]) =>
    queueToWire({
      deploymentId: file.deployment.id,
      inputs: row.inputs,
      gpu: row.gpu,
      webhook: `…/hook/2/${file.batch}/${file.mark}/${place}/1/…`,
    }),
  );
}
