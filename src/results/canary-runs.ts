// What the canary of a batch has shown: samples for a forecast of its other rows, and what the canary cost.

import type { BatchFile } from '../store/batch-file.ts';
import { readCanary } from '../store/canary-file.ts';
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
  const canary = await readCanary(store, file);
  if (canary === undefined) return undefined;
  const shares = new Map(canary.map(({ row, share }) => [row, share]));
  const records = new Map<number, PartRecord>();
  for await (const record of recordsOf(store)) {
    if (shares.has(record.row) && !records.has(record.row)) records.set(record.row, record);
    if (records.size === shares.size) break;
  }
  if (records.size < shares.size) return undefined;
  const warm = atTheSameTime(capacityOf(file), shares.size);
  const all = [...records.values()];
  const samples = inSendingOrder(all).flatMap((record, at) => {
    const sample = sampleOf(record);
    const weight = shares.get(record.row) ?? 0;
    return sample === undefined ? [] : [{ ...sample, weight, batch, isOpening: at < warm }];
  });
  const attempts = all.flatMap((record) => record.attempts);
  return {
    samples,
    rows: all.length,
    succeeded: all.filter(({ outcome }) => outcome === 'succeeded').length,
    costUsd: attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0),
    warm,
  };
}
