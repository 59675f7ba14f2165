// How far back a run list is complete. A service may delete a run some time after its end, so a list that was read without error may
// lack runs that ended long ago. A run that it still shows proves that it has deleted none that ended later.

import type { ReadBack } from '../batch/commands.ts';
import type { Run } from '../service-client/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';

/** How long every service lists an ended run (docs/guarantees.md). */
const LISTED_MS = 86_400_000;

type ListedService = Pick<BatchFile['service'], 'id'>;

export class ListReach {
  readonly #listedMs: number;
  #oldestEndMs = Number.POSITIVE_INFINITY;

  /** `listedMs`: how long the service lists an ended run. */
  constructor({ id }: ListedService, listedMs = LISTED_MS) {
    // The run service of this package, which has an id, deletes no run.
    this.#listedMs = id === undefined ? listedMs : Number.POSITIVE_INFINITY;
  }

  /** Takes a run that the list shows. */
  add({ endedAtMs = Number.POSITIVE_INFINITY }: Pick<Run, 'endedAtMs'>): void {
    this.#oldestEndMs = Math.min(this.#oldestEndMs, endedAtMs);
  }

  /** The list shows every run that ended later than this, by the service's clock. */
  sinceMs(nowMs: number): number {
    return Math.min(nowMs - this.#listedMs, this.#oldestEndMs);
  }

  /** Whether the list shows every run that was sent since `back`. */
  covers(nowMs: number, back: ReadBack): boolean {
    return this.sinceMs(nowMs) <= nowMs - passedAtMost(nowMs, back);
  }
}

/**
 * The longest time that may have passed at the service since the oldest attempt was sent. `agoMs` lacks the time for
 * which the batch waited while Temporal's clock was set back; the service's clock shows it.
 */
export function passedAtMost(serviceNowMs: number, { agoMs, wallAt, offset }: ReadBack): number {
  const gainedMs = offset === undefined ? 0 : serviceNowMs - wallAt - offset.min;
  return agoMs + Math.max(0, gainedMs);
}
