// The set of run ids that a batch's rows name. The set keeps 128 bits of each id's hash in a table of numbers: a
// million strings take more than twice the memory, and a temporary SQLite database took four times as long.

import { hash } from 'node:crypto';

/** 32-bit numbers per id. */
const NUMBERS = 4;
const PLACES_FIRST = 1_024;
/** A fuller table needs more tries to find a free place. */
const MAX_FILLED = 0.7;
/** The first number of a free place. */
const FREE = 0;

export class KnownRuns {
  size = 0;
  /** The run that ended first, of those that were added with their end. */
  firstEnded: string | undefined;
  #firstEndAt = Number.POSITIVE_INFINITY;
  #places = PLACES_FIRST;
  #table = new Uint32Array(NUMBERS * PLACES_FIRST);

  get bytes(): number {
    return this.#table.byteLength;
  }

  /** `endedAt`: by the service's clock. */
  add(runId: string, endedAt?: string): void {
    const endAt = endedAt === undefined ? Number.NaN : Date.parse(endedAt);
    if (endAt < this.#firstEndAt) [this.firstEnded, this.#firstEndAt] = [runId, endAt];
    const numbers = numbersOf(runId);
    const at = this.#find(numbers);
    if (this.#isTaken(at)) return;
    this.#put(numbers, at);
    this.size += 1;
    if (this.size > this.#places * MAX_FILLED) this.#grow();
  }

  has(runId: string): boolean {
    return this.#isTaken(this.#find(numbersOf(runId)));
  }

  #isTaken(at: number): boolean {
    return this.#table[at] !== FREE;
  }

  /** The position of these numbers, or the free place where they belong. */
  #find([first, second, third, fourth]: RunIdNumbers): number {
    const table = this.#table;
    for (let place = first; ; place += 1) {
      const at = NUMBERS * (place & (this.#places - 1));
      if (table[at] === FREE) return at;
      if (
        table[at] === first &&
        table[at + 1] === second &&
        table[at + 2] === third &&
        table[at + 3] === fourth
      )
        return at;
    }
  }

  #put(numbers: RunIdNumbers, at: number): void {
    for (let number = 0; number < NUMBERS; number += 1) this.#table[at + number] = numbers[number] ?? 0;
  }

  #grow(): void {
    const before = this.#table;
    this.#places *= 2;
    this.#table = new Uint32Array(NUMBERS * this.#places);
    // A plain loop over numbers, because this happens between two turns of the event loop.
    for (let at = 0; at < before.length; at += NUMBERS) {
      const first = before[at] ?? FREE;
      if (first === FREE) continue;
      const numbers = [first, before[at + 1] ?? 0, before[at + 2] ?? 0, before[at + 3] ?? 0] as const;
      this.#put(numbers, this.#find(numbers));
    }
  }
}

type RunIdNumbers = readonly [number, number, number, number];

/** The hash of a run id; the first number is never {@link FREE}. */
function numbersOf(runId: string): RunIdNumbers {
  const bytes = hash('sha256', runId, 'binary');
  return [numberAt(bytes, 0) || 1, numberAt(bytes, 4), numberAt(bytes, 8), numberAt(bytes, 12)];
}

const numberAt = (bytes: string, at: number): number =>
  (bytes.charCodeAt(at) |
    (bytes.charCodeAt(at + 1) << 8) |
    (bytes.charCodeAt(at + 2) << 16) |
    (bytes.charCodeAt(at + 3) << 24)) >>>
  0;
