// The reach of a run list: since when it surely shows every run. A service may delete a run some time after its end, so a list that
// was read without error may lack runs that ended long ago. A run that it still shows proves that it has deleted none that ended later.

import type { ReadBack } from '../batch/commands.ts';
import type { Run } from '../service-client/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { passedAtMost } from './list-runs.ts';

/** For how long every service lists a run that has ended (docs/guarantees.md). */
const LISTED_MS = 86_400_000;

type ListedService = Pick<BatchFile['service'], 'id'>;

export class ListReach {
  readonly #listedMs: number;
  #oldestEndMs = Number.POSITIVE_INFINITY;

  /** `listedMs`: for how long the service lists a run that has ended. */
  constructor({ id }: ListedService, listedMs = LISTED_MS) {
    // The run service of this package, which has an id, deletes no run.
    this.#listedMs = id === undefined ? listedMs : Number.POSITIVE_INFINITY;
  }

  add({ endedAtMs = Number.POSITIVE_INFINITY }: Pick<Run, 'endedAtMs'>): void {
    this.#oldestEndMs = Math.min(this.#oldestEndMs, endedAtMs);
  }

  /** The list shows every run that ended later than this, by the service's clock. */
  sinceMs(nowMs: number): number {
    return Math.min(nowMs - this.#listedMs, this.#oldestEndMs);
  }

  /** Whether the service may have deleted a run that ended then; NaN: its end is not known. */
  mayLack(endMs: number, nowMs: number): boolean {
    return endMs < nowMs - this.#listedMs;
  }

  /** Whether the list shows every run that was sent since `back`. */
  covers(nowMs: number, back: ReadBack): boolean {
    const passedMs = passedAtMost(nowMs, back);
    return passedMs <= this.#listedMs || this.#oldestEndMs < nowMs - passedMs;
  }
}
