// What a poll remembers between its attempts, in heartbeat details: short lists, because Temporal stores them at every poll. The
// time between two polls comes from Temporal's clock and is capped.

import { NOT_OBSERVED, type Observation } from '../src/run-service/observation.ts';

export type PollMemory = {
  readonly lookedAtMs: number;
  /** Time since the last poll, capped. */
  readonly sinceLastMs: number;
  /** Time since the poll activity started. */
  readonly agedMs: number;
  /** For how long no run could be read, and whether that was signalled to the batch. */
  readonly unreadMs: number;
  readonly isOutageReported: boolean;
  readonly runs: readonly Observation[];
};

type RunTuple = readonly [shown: number, quietMs: number, missingMs: number, isReported: 0 | 1];
export type StoredMemory = Omit<PollMemory, 'runs' | 'sinceLastMs'> & { readonly runs: readonly RunTuple[] };

/** A longer outage of the service or of Temporal proves nothing about a run. */
const COUNTED_MOST_MS = 30_000;

/** The memory of the previous attempt; the initial one if there is none. */
export function readMemory(
  details: unknown,
  { runs, isUnreadable }: { readonly runs: readonly unknown[]; readonly isUnreadable: boolean },
  nowMs: number,
): PollMemory {
  const stored = details as StoredMemory | undefined;
  if (stored?.runs.length !== runs.length)
    return {
      lookedAtMs: nowMs,
      sinceLastMs: 0,
      agedMs: 0,
      unreadMs: 0,
      isOutageReported: isUnreadable,
      runs: runs.map(() => NOT_OBSERVED),
    };
  const sinceLastMs = Math.min(COUNTED_MOST_MS, Math.max(0, nowMs - stored.lookedAtMs));
  return { ...stored, sinceLastMs, runs: stored.runs.map(readRun) };
}

export function storeMemory(stored: PollMemory): StoredMemory {
  const { sinceLastMs: _, runs, ...memory } = stored;
  return { ...memory, runs: runs.map(storeRun) };
}

const readRun = ([shown, quietMs, missingMs, isReported]: RunTuple): Observation => ({
  shown,
  quietMs,
  missingMs,
  isReported: isReported === 1,
});

const storeRun = ({ shown, quietMs, missingMs, isReported }: Observation): RunTuple => [
  shown,
  quietMs,
  missingMs,
  isReported ? 1 : 0,
];
