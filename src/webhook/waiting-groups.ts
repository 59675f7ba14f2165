// Lets groups whose POSTs all have a response wait for the next ends of runs. The completion of such a group carries the ends to
// the batch, so that they need no signal, and the workflow needs one task instead of two. Without a waiting group, or if Temporal
// has given the group up, a signal carries them.
//
//   waiting ──ends──► carries them (one group), or completes at the same moment (the others)
//      └────time over, or no ends expected──► completes alone

import type { RunEnds, BatchSignals } from '../batch/events.ts';
import { workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';
import { LANES_MOST } from './signal-queue.ts';

/** Ends that a group takes along. */
export type Load = RunEnds & {
  /** Whether Temporal has accepted them with the group's completion. */
  readonly delivered: (isTaken: boolean) => void;
};

export type WaitingGroup = {
  /** undefined: the group completes without ends. */
  readonly load: Promise<Load | undefined>;
  /** Ends the wait. */
  readonly stop: () => void;
};

type Waiting = { readonly carries: boolean; readonly go: (load: Load | undefined) => void };

/** One batch's groups, and when its ends came. */
type Lane = { readonly waiting: Set<Waiting>; endsAt: number; gapMs: number };

/** A batch has few groups in flight, and those that wait leave room for others. */
const WAITING_MOST = 16;
/** The weight of the newest gap in the average. */
const WEIGHT = 0.3;
/** So many usual gaps without ends: they no longer come as before. */
const GAPS_MOST = 4;

export class WaitingGroups {
  /** Those whose ends came longest ago first. */
  readonly #lanes = new Map<string, Lane>();
  readonly #nowMs: () => number;

  /** `nowMs`: a clock that is never set. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Waits at most `mostMs`, and not at all if the next ends are expected later; `carries`: the group can take ends along. */
  wait(batch: BatchName, { mostMs, carries }: { mostMs: number; carries: boolean }): WaitingGroup {
    const lane = this.#lanes.get(workflowIdOf(batch));
    const forMs =
      lane === undefined || lane.waiting.size >= WAITING_MOST ? 0 : waitMs(lane, mostMs, this.#nowMs());
    if (lane === undefined || forMs === 0) return { load: Promise.resolve(undefined), stop: () => undefined };
    const { promise, resolve } = Promise.withResolvers<Load | undefined>();
    const one: Waiting = {
      carries,
      go: (load) => {
        clearTimeout(timer);
        lane.waiting.delete(one);
        resolve(load);
      },
    };
    const stop = (): void => one.go(undefined);
    const timer = setTimeout(stop, forMs).unref();
    lane.waiting.add(one);
    return { load: promise, stop };
  }

  /** Signals whose ends go with a waiting group if there is one. */
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
    // What reaches Temporal at the same moment is processed in the same workflow task.
    for (const other of waiting) if (other !== carrier) other.go(undefined);
    return carrier === undefined ? false : promise;
  }

  /** The batch's lane, after noting that ends have come. */
  #noted(batch: BatchName): Lane {
    const [now, key] = [this.#nowMs(), workflowIdOf(batch)];
    const known = this.#lanes.get(key);
    const lane = known ?? { waiting: new Set(), endsAt: now, gapMs: Number.POSITIVE_INFINITY };
    const gapMs = now - lane.endsAt;
    if (known !== undefined)
      lane.gapMs = Number.isFinite(lane.gapMs) ? lane.gapMs * (1 - WEIGHT) + gapMs * WEIGHT : gapMs;
    lane.endsAt = now;
    // Inserted again, it becomes the newest entry of the map.
    this.#lanes.delete(key);
    this.#lanes.set(key, lane);
    if (this.#lanes.size > LANES_MOST) this.#forgetOne();
    return lane;
  }

  /** The one whose ends came longest ago, of those without a waiting group. */
  #forgetOne(): void {
    for (const [key, { waiting }] of this.#lanes) if (waiting.size === 0) return void this.#lanes.delete(key);
  }
}

/** 0: the next ends are expected later than the group may wait. */
function waitMs({ endsAt, gapMs }: Lane, mostMs: number, nowMs: number): number {
  const quietMs = nowMs - endsAt;
  if (gapMs > mostMs || quietMs > GAPS_MOST * mostMs) return 0;
  return Math.min(mostMs, Math.max(MIN_MS, GAPS_MOST * gapMs));
}

const MIN_MS = 250;
