// What the canary of a batch has shown: samples for a forecast of its other rows, and what the canary cost.

import { laneOf, numberOf } from '../batch/state/lanes.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import { recordsOf } from './batch-rows.ts';
import type { Sample } from './forecast/sample.ts';
import { atTheSameTime } from './forecast/wall-time.ts';
import { capacityOf, inSendingOrder, sampleOf } from './past-runs.ts';
import type { PartRecord } from './row-record.ts';

export type CanaryRuns = {
  readonly samples: readonly Sample[];
  readonly rows: number;
  readonly succeeded: number;
  readonly costUsd: number;
  /** Containers that it started. */
  readonly warm: number;
};

type Folder = { readonly batch: string; readonly file: BatchFile; readonly store: Store };

/** undefined if the batch has no canary, or not all of its rows are collected. */
export async function readCanaryRuns({ batch, file, store }: Folder): Promise<CanaryRuns | undefined> {
  if (file.canary === undefined) return undefined;
  const { rows } = file.canary;
  const { lanes } = file.sheet;
  const records = new Map<number, PartRecord>();
  for await (const record of recordsOf(store)) {
    const { place } = record;
    const isCanary = numberOf(place) <= (lanes[laneOf(place)]?.canary ?? 0);
    if (isCanary && !records.has(place)) records.set(place, record);
    if (records.size === rows) break;
  }
  if (records.size < rows) return undefined;
  const warm = atTheSameTime(capacityOf(file), rows);
  const all = [...records.values()];
  const samples = inSendingOrder(all).flatMap((record, at) => {
    const sample = sampleOf(record);
    return sample === undefined ? [] : [{ ...sample, batch, isOpening: at < warm }];
  });
  const attempts = all.flatMap((record) => record.attempts);
  return {
    samples,
    rows,
    succeeded: all.filter(({ outcome }) => outcome === 'succeeded').length,
    costUsd: attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0),
    warm,
  };
}
