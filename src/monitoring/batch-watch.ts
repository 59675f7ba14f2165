// Reads the figures of all batches of this cluster that run or ended lately: at a scrape, at most every two seconds, with
// one request to Temporal. The summary of an ended batch is read once.

import type { BatchName } from '../batch/workflow-ids.ts';
import { errorMessage } from '../errors/error.ts';
import type { Summary } from '../results/summary.ts';
import type { RecentBatch, RecentBatches } from '../temporal/recent-batches.ts';
import { type BatchFigures, figuresAtEnd, figuresOf, type KnownBatch } from './batch-figures.ts';

export type WatchDeps = {
  recent(endedSince: Date): Promise<RecentBatches>;
  /** undefined if this worker cannot read it. */
  summaryOf(batch: RecentBatch): Promise<Summary | undefined>;
  failed(reason: string): void;
};

export type Watched = {
  readonly batches: readonly KnownBatch[];
  /** False if there are more batches than are shown. */
  readonly isComplete: boolean;
  /** When the figures were read, in milliseconds since 1970; undefined before the first reading. */
  readonly readAtMs: number | undefined;
};

const FRESH_MS = 2_000;
/** How long an ended batch is shown. */
const KEPT_MS = 3_600_000;

export function watchBatches(deps: WatchDeps): () => Promise<Watched> {
  let watched: Watched = { batches: [], isComplete: true, readAtMs: undefined };
  let ended = new Map<string, BatchFigures>();
  let reading: Promise<void> | undefined;
  let triedAt = -Infinity;

  const read = async (): Promise<void> => {
    const { batches, isComplete } = await deps.recent(new Date(Date.now() - KEPT_MS));
    const kept = new Map<string, BatchFigures>();
    const shown: KnownBatch[] = [];
    for (const batch of batches) {
      const figures = ended.get(endOf(batch)) ?? (await figuresNow(deps, batch));
      if (figures === undefined) continue;
      if (figures.state === 'finished' && batch.workflow === 'completed') kept.set(endOf(batch), figures);
      shown.push({ batch: batch.batch, mark: batch.mark, figures });
    }
    ended = kept;
    watched = { batches: shown, isComplete, readAtMs: Date.now() };
  };

  return async () => {
    if (performance.now() - triedAt >= FRESH_MS && reading === undefined)
      reading = read()
        .catch((error: unknown) => deps.failed(errorMessage(error)))
        .finally(() => {
          triedAt = performance.now();
          reading = undefined;
        });
    await reading;
    return watched;
  };
}

/** A batch that continues ends again, with other figures. */
const endOf = ({ batch, mark, closedAt }: BatchName & Pick<RecentBatch, 'closedAt'>): string =>
  `${batch}~${mark} ${closedAt?.getTime()}`;

async function figuresNow(deps: WatchDeps, batch: RecentBatch): Promise<BatchFigures | undefined> {
  const { workflow, progress } = batch;
  const summary = workflow === 'completed' ? await deps.summaryOf(batch).catch(() => undefined) : undefined;
  if (summary !== undefined) return figuresAtEnd(summary);
  return progress && figuresOf(progress, workflow === 'failed');
}
