// News for running batches. Each batch has at most one signal under way, and signals begin at least a gap apart; what
// comes meanwhile goes with the next one. A lone end gets through at once, and in a rush many ends share a signal, and with
// it a workflow task and the group that fills their slots. The gap grows with the rate of news, because what a signal costs
// matters most when there are many.

import { GROUP_ATTEMPTS } from '../batch/limits.ts';

/** What became of a piece of news: the workflow has it, or is past needing it. */
export type Delivered = 'taken' | 'gone';

type Waiting<T> = {
  readonly news: T;
  readonly done: (delivered: Delivered) => void;
  readonly failed: (error: unknown) => void;
};

/** One batch's news: what waits, who wants to go with it, and how fast it has been coming. */
type Lane<T> = {
  readonly waiting: Waiting<T>[];
  readonly riders: (() => void)[];
  isBusy: boolean;
  perSecond: number;
  countedAt: number;
  hurry: (() => void) | undefined;
};

const GAP_MIN_MS = 30;
const GAP_MAX_MS = 100;
/** Milliseconds of gap for each piece of news a second. */
const GAP_MS_PER_RATE = 0.2;
/** As many slots as two groups fill. */
const ENOUGH = 2 * GROUP_ATTEMPTS;
/** How long a rush is remembered. */
const RATE_MEMORY_MS = 1_000;

export class Outbox<T> {
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #send: (batch: string, news: readonly T[]) => Promise<Delivered>;
  readonly #most: number;

  /** `send` signals a batch, with at most `most` pieces at once. */
  constructor(send: (batch: string, news: readonly T[]) => Promise<Delivered>, most: number) {
    this.#send = send;
    this.#most = most;
  }

  /** Resolves when the signal that carries it was answered; rejects when Temporal would not take it. */
  deliver(batch: string, news: T): Promise<Delivered> {
    const lane = this.#lanes.get(batch) ?? {
      waiting: [],
      riders: [],
      isBusy: false,
      perSecond: 0,
      hurry: undefined,
      countedAt: 0,
    };
    this.#lanes.set(batch, lane);
    count(lane);
    return new Promise((done, failed) => {
      lane.waiting.push({ news, done, failed });
      if (!lane.isBusy) void this.#empty(batch, lane);
      else if (lane.waiting.length >= ENOUGH) lane.hurry?.();
    });
  }

  /**
   * Resolves at the moment of the batch's next signal, within a gap; at once where there is no rush. What is told to Temporal
   * at that moment is worked on in the same workflow task.
   */
  ride(batch: string): Promise<void> {
    const lane = this.#lanes.get(batch);
    return lane?.isBusy ? new Promise((go) => lane.riders.push(go)) : Promise.resolve();
  }

  async #empty(batch: string, lane: Lane<T>): Promise<void> {
    lane.isBusy = true;
    while (lane.waiting.length > 0) {
      const sent = lane.waiting.splice(0, this.#most);
      for (const go of lane.riders.splice(0)) go();
      await Promise.all([this.#signal(batch, sent), gap(lane)]);
    }
    lane.isBusy = false;
    for (const go of lane.riders.splice(0)) go();
  }

  async #signal(batch: string, sent: readonly Waiting<T>[]): Promise<void> {
    try {
      const delivered = await this.#send(
        batch,
        sent.map(({ news }) => news),
      );
      if (delivered === 'gone') this.#lanes.delete(batch);
      for (const { done } of sent) done(delivered);
    } catch (error) {
      for (const { failed } of sent) failed(error);
    }
  }
}

/** News a second, of which what lies further back counts less and less. */
function count(lane: Lane<unknown>): void {
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
    lane.hurry = () => {
      clearTimeout(timer);
      over();
    };
  });
}
