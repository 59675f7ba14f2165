// Reads samples for a forecast from the earlier batches of a deployment, newest first. It reads a bounded number of parts of
// each, because a batch may have a million rows.

import { isSameService } from '../host/service-address.ts';
import { parseExactly } from '../host/formats/exact-json.ts';
import { countToSend, type BatchFile } from '../store/batch-file.ts';
import { listBatchFolders, type BatchFolder } from '../store/batch-folders.ts';
import { linesOf } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { isReusedPart, partNames, PARTS } from './parts.ts';
import type { AttemptRecord, PartRecord } from './row-record.ts';
import type { RunSample } from './forecast/forecast.ts';
import { atTheSameTime, type Capacity } from './forecast/wall-time.ts';
import { laneOf, numberOf } from '../batch/state/lanes.ts';
import { recordsOf } from './batch-rows.ts';
import { unpricedCount } from './tally-rows.ts';

export type PastRuns = {
  readonly samples: readonly RunSample[];
  readonly batches: readonly string[];
  /** The GPU of rows that named none, if a batch shows it. */
  readonly ownGpu: string | undefined;
};

type PastRunsQuery = {
  readonly deployment: string;
  readonly base: string;
  readonly gpus: readonly string[];
};

/** Beyond this many rows per GPU, from several batches that may differ, older ones add little. */
const ENOUGH = { rows: 300, batches: 3 };
/** GPUs that were never used would otherwise be searched for in every batch. */
const MAX_BATCHES = 10;
/** Limits for one batch. Parts of a slow batch have few rows, and records may contain long texts. */
const EACH = { rows: 300, parts: 100, bytes: 16 * 1024 * 1024 };

export async function readPastRuns(out: string, wanted: PastRunsQuery): Promise<PastRuns> {
  const samples: RunSample[] = [];
  const batches: string[] = [];
  let ownGpu: string | undefined;
  for (const batchFolder of await foldersOf(out, wanted)) {
    if (batches.length >= MAX_BATCHES || isEnough(samples, wanted)) break;
    // A forecast needs no particular batch, so unreadable and removed batches are left out.
    const own = await samplesOf(batchFolder).catch(() => []);
    if (own.length === 0) continue;
    samples.push(...own);
    batches.push(batchFolder.batch);
    if (asksForNoGpu(batchFolder.file)) ownGpu ??= own[0]?.gpu;
  }
  return { samples, batches, ownGpu };
}

async function foldersOf(out: string, { deployment, base }: PastRunsQuery): Promise<readonly BatchFolder[]> {
  const folders = await listBatchFolders(out);
  return folders.filter(
    ({ file }) => file.deployment.id === deployment && isSameService(file.service, { base }),
  );
}

const isEnough = (samples: readonly RunSample[], { gpus }: PastRunsQuery): boolean =>
  gpus.every((gpu) => {
    const own = samples.filter((sample) => sample.gpu === gpu);
    return own.length >= ENOUGH.rows && new Set(own.map(({ batch }) => batch)).size >= ENOUGH.batches;
  });

const asksForNoGpu = ({ sheet: { options, columns } }: BatchFile): boolean =>
  options.gpu === undefined && options.ladder === undefined && !columns.includes(options.gpuColumn ?? 'gpu');

async function samplesOf({ batch, file, store }: BatchFolder): Promise<readonly RunSample[]> {
  const { concurrency, containers } = capacityOf(file);
  const opening = atTheSameTime(capacityOf(file), countToSend(file.sheet));
  const records = await readSome(store, opening);
  const samples = samplesIn(records, batch, opening);
  const isCrowded = containers !== undefined && concurrency > containers;
  if (!isCrowded) return samples;
  return samples.map((sample) => {
    const { queueSeconds: _, ...usable } = sample;
    return usable;
  });
}

/** `opening`: how many rows were sent first. */
const samplesIn = (records: readonly PartRecord[], batch: string, opening: number): readonly RunSample[] =>
  inSendingOrder(records).flatMap((record, at) => {
    const sample = sampleOf(record);
    return sample === undefined ? [] : [{ ...sample, batch, isOpening: at < opening }];
  });

/** The result of -c auto is unknown, so its start value counts. */
export const capacityOf = ({
  adaptive,
  concurrency,
  deployment: { concurrencyLimit },
}: BatchFile): Capacity => ({
  concurrency: adaptive ?? concurrency,
  ...(concurrencyLimit === undefined ? {} : { containers: concurrencyLimit }),
});

const inSendingOrder = (records: readonly PartRecord[]): readonly PartRecord[] =>
  records.toSorted((a, b) => sentAt(a).localeCompare(sentAt(b)));

const sentAt = ({ attempts }: PartRecord): string => attempts[0]?.created_at ?? '';

/**
 * Undefined if the row says nothing about future rows: it has not succeeded, or its times are unknown. A
 * failed run may take no time.
 */
function sampleOf({
  outcome,
  attempts,
}: PartRecord): Pick<RunSample, 'gpu' | 'runs' | 'queueSeconds'> | undefined {
  if (outcome !== 'succeeded') return undefined;
  const used = attempts.filter((attempt) => attempt.gpu_used !== undefined);
  const last = used.at(-1);
  if (last?.gpu_used === undefined) return undefined;
  if (last.run_seconds === undefined) return undefined;
  return {
    gpu: last.gpu_used,
    // A row of a ladder had runs on other GPUs as well.
    runs: used.filter((attempt) => attempt.gpu_used === last.gpu_used).map(runOf),
    ...(last.queue_seconds === undefined ? {} : { queueSeconds: Math.max(0, last.queue_seconds) }),
  };
}

/** The dates of a service may contradict each other, so a difference may be negative. */
const runOf = ({ cold_start_seconds = 0, run_seconds = 0 }: AttemptRecord): RunSample['runs'][number] => ({
  coldStart: Math.max(0, cold_start_seconds),
  run: Math.max(0, run_seconds),
});

/** The first rows of a batch, and rows from everywhere in it. Of two records of a row, the later one counts. */
async function readSome(store: Store, opening: number): Promise<readonly PartRecord[]> {
  // Reused rows show no run.
  const names = (await partNames(store)).filter((name) => !isReusedPart(name));
  const newestByRow = new Map<number, { readonly part: number; readonly record: PartRecord }>();
  const parts = new Set<number>();
  let left = EACH.bytes;
  const read = async (order: Iterable<number>, rows: number): Promise<void> => {
    for (const part of order) {
      if (newestByRow.size >= rows || parts.size >= EACH.parts || left < 0) return;
      if (parts.has(part)) continue;
      parts.add(part);
      for await (const line of linesOf(store, `${PARTS}/${names[part]}`)) {
        left -= line.length;
        if (left < 0) return;
        const record = parseExactly(line) as PartRecord;
        if ((newestByRow.get(record.row)?.part ?? -1) < part) newestByRow.set(record.row, { part, record });
      }
    }
  };
  await read(names.keys(), opening);
  await read(spreadOver(names.length), newestByRow.size + EACH.rows);
  return [...newestByRow.values()].map(({ record }) => record);
}

/** Steps of the golden section are spread evenly, wherever they stop. */
function* spreadOver(count: number): Generator<number> {
  const step = (Math.sqrt(5) - 1) / 2;
  for (let at = 0; at < 2 * count; at += 1) yield Math.floor(((0.5 + at * step) % 1) * count);
}

/** The ended canary of a batch: its cost, and samples for a forecast of the other rows. */
export type CanaryRuns = {
  readonly samples: readonly RunSample[];
  readonly rows: number;
  readonly succeeded: number;
  readonly costUsd: number;
  readonly unpriced: number;
  readonly warm: number;
};

/** undefined if the batch has no canary, or until all rows of the canary are collected. */
export async function readCanaryRuns({
  batch,
  file,
  store,
}: Pick<BatchFolder, 'batch' | 'file' | 'store'>): Promise<CanaryRuns | undefined> {
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
  const collected = [...records.values()];
  const attempts = collected.flatMap((record) => record.attempts);
  return {
    samples: samplesIn(collected, batch, warm),
    rows,
    succeeded: collected.filter(({ outcome }) => outcome === 'succeeded').length,
    costUsd: attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0),
    unpriced: unpricedCount(attempts),
    warm,
  };
}
