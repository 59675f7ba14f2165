// Signals for running batches. Each batch has at most one signal under way, and signals begin at least a gap apart; what comes
// meanwhile goes with the next one. A lone message gets through immediately, and in a rush many messages share a signal, and
// with it a workflow task and the group that fills their slots. The gap grows with the rate of messages, because what a signal
// costs matters most when there are many.

import { GROUP_ATTEMPTS } from '../batch/bounds.ts';
import type { Delivered } from '../batch/signals.ts';
import type { BatchName } from '../batch/batch-ref.ts';

type Waiting<T> = {
  readonly message: T;
  readonly done: (delivered: Delivered) => void;
  readonly failed: (error: unknown) => void;
};

/** One batch's messages: what waits, who wants to go with it, and how fast messages have been coming. */
type Lane<T> = {
  readonly batch: BatchName;
  readonly waiting: Waiting<T>[];
  readonly riders: (() => void)[];
  isBusy: boolean;
  perSecond: number;
  countedAt: number;
  endGap: (() => void) | undefined;
};

const GAP_MIN_MS = 30;
const GAP_MAX_MS = 100;
/** Milliseconds of gap for each message a second. */
const GAP_MS_PER_RATE = 0.2;
/** As many slots as two groups fill. */
const ENOUGH = 2 * GROUP_ATTEMPTS;
/** How long a rush is remembered. */
const RATE_MEMORY_MS = 1_000;

export class SignalQueue<T> {
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #send: (batch: BatchName, messages: readonly T[]) => Promise<Delivered>;
  readonly #most: number;

  /** `send` signals a batch, with at most `most` messages at the same time. */
  constructor(send: (batch: BatchName, messages: readonly T[]) => Promise<Delivered>, most: number) {
    this.#send = send;
    this.#most = most;
  }

  /** Resolves when the signal that carries it was answered; rejects when Temporal would not take it. */
  deliver(batch: BatchName, message: T): Promise<Delivered> {
    const lane = this.#laneOf(batch);
    countMessage(lane);
    return new Promise((done, failed) => {
      lane.waiting.push({ message, done, failed });
      if (!lane.isBusy) void this.#empty(lane);
      else if (lane.waiting.length >= ENOUGH) lane.endGap?.();
    });
  }

  /**
   * Resolves at the moment of the batch's next signal, within a gap; immediately where there is no rush. What Temporal is told
   * at that moment is worked on in the same workflow task.
   */
  nextSignal(batch: BatchName): Promise<void> {
    const lane = this.#lanes.get(keyOf(batch));
    return lane?.isBusy ? new Promise((go) => lane.riders.push(go)) : Promise.resolve();
  }

  #laneOf(batch: BatchName): Lane<T> {
    const key = keyOf(batch);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane<T> = {
      batch,
      waiting: [],
      riders: [],
      isBusy: false,
      perSecond: 0,
      endGap: undefined,
      countedAt: 0,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  async #empty(lane: Lane<T>): Promise<void> {
    lane.isBusy = true;
    while (lane.waiting.length > 0) {
      const sent = lane.waiting.splice(0, this.#most);
      for (const go of lane.riders.splice(0)) go();
      await Promise.all([this.#signal(lane, sent), gap(lane)]);
    }
    lane.isBusy = false;
    for (const go of lane.riders.splice(0)) go();
  }

  async #signal(lane: Lane<T>, sent: readonly Waiting<T>[]): Promise<void> {
    try {
      const delivered = await this.#send(
        lane.batch,
        sent.map(({ message }) => message),
      );
      if (delivered === 'gone') this.#lanes.delete(keyOf(lane.batch));
      for (const { done } of sent) done(delivered);
    } catch (error) {
      for (const { failed } of sent) failed(error);
    }
  }
}

const keyOf = ({ batch, mark }: BatchName): string => `${batch}~${mark}`;

/** Messages a second, of which those further back count less and less. */
function countMessage(lane: Lane<unknown>): void {
  const now = performance.now();
  const kept = Math.exp((lane.countedAt - now) / RATE_MEMORY_MS);
  lane.perSecond = lane.perSecond * kept + 1_000 / RATE_MEMORY_MS;
  lane.countedAt = now;
}

/** Resolves after the gap that fits the rate, or as soon as enough waits. */
function gap(lane: Lane<unknown>): Promise<void> {
  const ms = Math.min(GAP_MAX_MS, Math.max(GAP_MIN_MS, lane.perSecond * GAP_MS_PER_RATE));
  return new Promise((over) => {
    const timer = setTimeout(over, ms);
    lane.endGap = () => {
      clearTimeout(timer);
      over();
    };
  });
}
