// Lets groups whose POSTs all have a response wait for the next ends of runs. The completion of such a group carries
// the ends to the batch, so that the ends need no signal, and the workflow needs one task instead of two. Without a
// waiting group, or if Temporal has given the group up, a signal carries the ends.
//
//   waiting ──ends──► carries them (one group), or completes at the same moment (the others)
//      └────time over, or no ends expected──► completes alone

import type { RunEnds, BatchSignals } from '../batch/events.ts';
import { workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';
import { MAX_LANES } from './signal-queue.ts';

/** Ends that the completion of a group carries. */
export type Load = RunEnds & {
  /** Called with whether Temporal has accepted the ends with the group's completion. */
  readonly delivered: (isTaken: boolean) => void;
};

export type WaitingGroup = {
  /** undefined: the group completes without ends. */
  readonly load: Promise<Load | undefined>;
  /** Ends the wait. */
  readonly stop: () => void;
};

type Waiter = { readonly carries: boolean; readonly go: (load: Load | undefined) => void };

/** The waiting groups of one batch, and when its ends arrived. */
type GroupLane = { readonly waiting: Set<Waiter>; endsAt: number; gapMs: number };

/** A batch has few groups in flight, and waiting groups leave room for others. */
const MAX_WAITING = 16;
/** The weight of the newest gap in the average. */
const WEIGHT = 0.3;
/** After this many usual gaps without ends, ends no longer arrive as before. */
const MAX_GAPS = 4;

export class WaitingGroups {
  /** The lanes of batches, those with the oldest ends first. */
  readonly #lanes = new Map<string, GroupLane>();
  readonly #nowMs: () => number;

  /** `nowMs`: a clock that is never set. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Waits at most `mostMs`, and not at all if the next ends are expected later; `carries`: the group can carry ends. */
  wait(batch: BatchName, { mostMs, carries }: { mostMs: number; carries: boolean }): WaitingGroup {
    const lane = this.#lanes.get(workflowIdOf(batch));
    const forMs =
      lane === undefined || lane.waiting.size >= MAX_WAITING ? 0 : waitMs(lane, mostMs, this.#nowMs());
    if (lane === undefined || forMs === 0) return { load: Promise.resolve(undefined), stop: () => undefined };
    const { promise, resolve } = Promise.withResolvers<Load | undefined>();
    const waiter: Waiter = {
      carries,
      go: (load) => {
        clearTimeout(timer);
        lane.waiting.delete(waiter);
        resolve(load);
      },
    };
    const stop = (): void => waiter.go(undefined);
    const timer = setTimeout(stop, forMs).unref();
    lane.waiting.add(waiter);
    return { load: promise, stop };
  }

  /** Signals that hand their ends to a waiting group if there is one. */
  signals(plain: BatchSignals): BatchSignals {
    return {
      ...plain,
      runsCompleted: async (batch, by, completions) => {
        if (await this.#carry(batch, { by, completions })) return 'taken';
        const delivered = await plain.runsCompleted(batch, by, completions);
        if (delivered === 'gone') this.#lanes.delete(workflowIdOf(batch));
        return delivered;
      },
    };
  }

  async #carry(batch: BatchName, ends: RunEnds): Promise<boolean> {
    const waiting = [...this.#noted(batch).waiting];
    const carrier = waiting.find(({ carries }) => carries);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    carrier?.go({ ...ends, delivered: resolve });
    // Messages that reach Temporal at the same moment are processed in the same workflow task.
    for (const waiter of waiting) if (waiter !== carrier) waiter.go(undefined);
    return carrier === undefined ? false : promise;
  }

  /** The batch's lane, after noting that ends have come. */
  #noted(batch: BatchName): GroupLane {
    const [now, key] = [this.#nowMs(), workflowIdOf(batch)];
    const existing = this.#lanes.get(key);
    const lane = existing ?? { waiting: new Set(), endsAt: now, gapMs: Number.POSITIVE_INFINITY };
    const gapMs = now - lane.endsAt;
    if (existing !== undefined)
      lane.gapMs = Number.isFinite(lane.gapMs) ? lane.gapMs * (1 - WEIGHT) + gapMs * WEIGHT : gapMs;
    lane.endsAt = now;
    // Inserting the lane again makes it the newest entry of the map.
    this.#lanes.delete(key);
    this.#lanes.set(key, lane);
    if (this.#lanes.size > MAX_LANES) this.#forgetOne();
    return lane;
  }

  /** Forgets the lane with the oldest ends, among those without a waiting group. */
  #forgetOne(): void {
    for (const [key, { waiting }] of this.#lanes) if (waiting.size === 0) return void this.#lanes.delete(key);
  }
}

/** 0: the next ends are expected later than the group may wait. */
function waitMs({ endsAt, gapMs }: GroupLane, mostMs: number, nowMs: number): number {
  const quietMs = nowMs - endsAt;
  if (gapMs > mostMs || quietMs > MAX_GAPS * mostMs) return 0;
  return Math.min(mostMs, Math.max(MIN_MS, MAX_GAPS * gapMs));
}

const MIN_MS = 250;
