// Batches messages into signals. Each batch has at most one signal in flight, with a minimum gap between two signals;
// messages that arrive meanwhile travel with the next signal. A single message is sent immediately. Under load many
// messages share one signal, one workflow task, and the group that fills their slots. The gap grows with the message
// rate, because the cost of a signal matters most under load. A message that may wait is held until enough of them
// are, or until a message arrives that may not. Where more messages are expected, or arrived together lately, the
// first one waits some milliseconds for them: many runs can end at the same moment, and ends that miss the first
// signal wait until Temporal has processed it.

import { GROUP_ATTEMPTS } from '../batch/bounds.ts';
import type { Delivered } from '../batch/events.ts';
import { workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';

type Queued<T> = {
  readonly message: T;
  readonly done: (delivered: Delivered) => void;
  readonly failed: (error: unknown) => void;
};

/** One batch's state: queued messages and the message rate. */
class Lane<T> {
  readonly batch: BatchName;
  readonly queued: Queued<T>[] = [];
  /** Messages that may wait. */
  readonly held: Queued<T>[] = [];
  release: NodeJS.Timeout | undefined;
  /** The limit of the newest held message. */
  isEnough: Hold['isEnough'] = () => true;
  isBusy = false;
  perSecond = 0;
  countedAt = 0;
  endGap: (() => void) | undefined;
  /** How many messages may come soon. */
  expected = 0;
  arrived = 0;
  /** How many messages arrived together lately, from the first of a quiet time until none was left. */
  together = 1;

  constructor(batch: BatchName) {
    this.batch = batch;
  }
}

/** How long a message may wait for others, and whether this many held messages are enough. */
export type Hold = { readonly mostMs: number; readonly isEnough: (held: number) => boolean };

const MIN_GAP_MS = 8;
const MAX_GAP_MS = 100;
/** Milliseconds of gap per message per second. */
const GAP_MS_PER_RATE = 0.2;
/** How many batches are remembered: a worker sees every batch of its lifetime. */
export const MAX_LANES = 1_000;
/** The first message waits until none arrived for this long, but at most this many times. */
const QUIET_MS = 3;
const MAX_QUIETS = 5;
/** If at least this many messages arrive together on average, the first one waits for others. */
const MIN_TOGETHER = 3;
/** The weight of the newest count in the average. */
const WEIGHT = 0.5;
/** Two full groups; with this many messages a signal does not wait for the gap. */
const ENOUGH = 2 * GROUP_ATTEMPTS;
/** The time constant of the message rate. */
const RATE_MEMORY_MS = 1_000;

export class SignalQueue<T> {
  /** The lanes of batches, least recently used first. */
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #send: (batch: BatchName, messages: readonly T[]) => Promise<Delivered>;
  readonly #most: number;
  readonly #flushing = new Set<Promise<void>>();
  #isClosed = false;

  /** `send` signals a batch, with at most `most` messages per signal. */
  constructor(send: (batch: BatchName, messages: readonly T[]) => Promise<Delivered>, most: number) {
    this.#send = send;
    this.#most = most;
  }

  /** Resolves when Temporal has answered the message's signal; rejects if Temporal refused it. */
  deliver(batch: BatchName, message: T, hold?: Hold): Promise<Delivered> {
    const lane = this.#laneOf(batch);
    countMessage(lane);
    return new Promise((done, failed) => {
      const queued = { message, done, failed };
      if (hold === undefined || hold.mostMs <= 0 || this.#isClosed || hold.isEnough(lane.held.length + 1)) {
        lane.queued.push(queued);
        return this.#release(lane);
      }
      lane.held.push(queued);
      lane.isEnough = hold.isEnough;
      // The first held message waits for the others, so its time counts.
      lane.release ??= setTimeout(() => this.#release(lane), hold.mostMs);
    });
  }

  /** A message may come soon, until the returned function is called. */
  expect(batch: BatchName): () => void {
    const lane = this.#laneOf(batch);
    lane.expected += 1;
    return () => {
      lane.expected -= 1;
    };
  }

  /** Sends held messages if there are enough by now. */
  review(batch: BatchName): void {
    const lane = this.#lanes.get(workflowIdOf(batch));
    if (lane !== undefined && lane.held.length > 0 && lane.isEnough(lane.held.length)) this.#release(lane);
  }

  /** Sends all held messages, and holds none from then on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const lane of this.#lanes.values()) this.#release(lane);
    await Promise.allSettled(this.#flushing);
  }

  #release(lane: Lane<T>): void {
    clearTimeout(lane.release);
    lane.release = undefined;
    lane.queued.unshift(...lane.held.splice(0));
    if (!lane.isBusy) {
      const flushing = this.#flush(lane).finally(() => this.#flushing.delete(flushing));
      this.#flushing.add(flushing);
    } else if (lane.queued.length >= ENOUGH) lane.endGap?.();
  }

  #laneOf(batch: BatchName): Lane<T> {
    const key = workflowIdOf(batch);
    const lane = this.#lanes.get(key) ?? this.#newLane(batch);
    // Inserting the lane again makes it the newest entry of the map.
    this.#lanes.delete(key);
    this.#lanes.set(key, lane);
    return lane;
  }

  #newLane(batch: BatchName): Lane<T> {
    if (this.#lanes.size >= MAX_LANES) this.#forgetOne();
    return new Lane(batch);
  }

  /** Held messages are still sent: `close` waits for them. */
  #forget(lane: Lane<T>): void {
    this.#release(lane);
    this.#lanes.delete(workflowIdOf(lane.batch));
  }

  /** Forgets the lane that was unused for longest, among those without messages. */
  #forgetOne(): void {
    for (const [key, { isBusy, held, expected }] of this.#lanes)
      if (!isBusy && held.length === 0 && expected === 0) return void this.#lanes.delete(key);
  }

  async #flush(lane: Lane<T>): Promise<void> {
    lane.isBusy = true;
    const before = lane.arrived - lane.queued.length;
    if (lane.expected > 0 || lane.together >= MIN_TOGETHER) await gather(lane);
    while (lane.queued.length > 0) {
      const sent = lane.queued.splice(0, this.#most);
      await Promise.all([this.#signal(lane, sent), gap(lane)]);
    }
    lane.together += WEIGHT * (lane.arrived - before - lane.together);
    lane.isBusy = false;
  }

  async #signal(lane: Lane<T>, sent: readonly Queued<T>[]): Promise<void> {
    try {
      const delivered = await this.#send(
        lane.batch,
        sent.map(({ message }) => message),
      );
      if (delivered === 'gone') this.#forget(lane);
      for (const { done } of sent) done(delivered);
    } catch (error) {
      for (const { failed } of sent) failed(error);
    }
  }
}

/** Updates the message rate, an exponential moving average. */
function countMessage(lane: Lane<unknown>): void {
  lane.arrived += 1;
  const now = performance.now();
  const kept = Math.exp((lane.countedAt - now) / RATE_MEMORY_MS);
  lane.perSecond = lane.perSecond * kept + 1_000 / RATE_MEMORY_MS;
  lane.countedAt = now;
}

/** Resolves soon, once no other message arrives or is expected. */
async function gather(lane: Lane<unknown>): Promise<void> {
  let before = -1;
  for (let left = MAX_QUIETS; left > 0 && (lane.arrived > before || lane.expected > 0); left -= 1) {
    before = lane.arrived;
    await new Promise((over) => setTimeout(over, QUIET_MS));
  }
}

/** Resolves after the gap for the current rate, or as soon as enough messages are queued. */
function gap(lane: Lane<unknown>): Promise<void> {
  const ms = Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, lane.perSecond * GAP_MS_PER_RATE));
  return new Promise((over) => {
    const timer = setTimeout(over, ms);
    lane.endGap = () => {
      clearTimeout(timer);
      over();
    };
  });
}
