// Walks a run list page by page, newest first, back to a given time. A service may return smaller pages than requested, so
// only an empty page, or one with old runs only, ends the walk. New runs shift the list meanwhile, so a run may appear twice.

import type { ReadBack } from '../batch/commands.ts';

/** After so many pages without a new run, the list is taken to be endless. */
const PAGES_WITHOUT_NEWS = 50;

/** `ended`: the list has no more runs; `far-enough`: all further runs are too old. */
export type Walked = 'more' | 'ended' | 'far-enough';

export class ListWalk {
  /** The offset of the next page. */
  offset = 0;
  readonly #oldestMs: number;
  #seen = new Set<string>();
  #withoutNews = 0;
  #pages = 0;
  /** The first run of the latest page whose number is a power of two. */
  #landmark: { readonly id: string; readonly page: number } | undefined;

  /** Ignores runs created before `oldestMs`, by the service's clock. */
  constructor(oldestMs: number) {
    this.#oldestMs = oldestMs;
  }

  /** Whether this page was the last one. Throws if the list repeats itself. */
  take(page: readonly { readonly id: string; readonly createdAtMs?: number | undefined }[]): Walked {
    if (page.length === 0) return 'ended';
    this.offset += page.length;
    // Two pages share runs only if new runs shifted the list.
    const isNews = page.some(({ id }) => !this.#seen.has(id));
    this.#seen = new Set(page.map(({ id }) => id));
    this.#withoutNews = isNews ? 0 : this.#withoutNews + 1;
    if (this.#withoutNews >= PAGES_WITHOUT_NEWS || this.#isBackAtLandmark(page))
      throw new Error('the run list repeats itself endlessly');
    const isOldEnough = page.every(({ createdAtMs }) => (createdAtMs ?? this.#oldestMs) < this.#oldestMs);
    return isOldEnough ? 'far-enough' : 'more';
  }

  /** Whether the list has started again (Brent's cycle detection). Shifted runs appear again within a few pages only. */
  #isBackAtLandmark(page: readonly { readonly id: string }[]): boolean {
    this.#pages += 1;
    const { id, page: from } = this.#landmark ?? { id: undefined, page: 0 };
    if (this.#pages - from >= PAGES_WITHOUT_NEWS && page.some((run) => run.id === id)) return true;
    const isPowerOfTwo = (this.#pages & (this.#pages - 1)) === 0;
    if (isPowerOfTwo && page[0] !== undefined) this.#landmark = { id: page[0].id, page: this.#pages };
    return false;
  }
}

/** The minimum number of runs in a complete list: the latest of the known runs may not be listed yet. */
export const leastShown = (known: number, concurrency: number): number => Math.max(0, known - concurrency);

/** A service may date its runs somewhat earlier than its answers: by another machine, or by when the request arrived. */
const MEASURED_MARGIN_MS = 600_000;
/** If the service says no time, clock changes up to this size may remain unnoticed. */
const UNMEASURED_MARGIN_MS = 3_600_000;

/**
 * The oldest creation time that matters, by the service's clock: `agoMs` ago, minus how much the difference between the service's
 * clock and Temporal's has changed: it was measured at the start, with each group of POSTs and now (R25).
 */
export function readBackTo(serviceNowMs: number, { agoMs, wallAt, offset }: ReadBack): number {
  if (offset === undefined) return serviceNowMs - agoMs - UNMEASURED_MARGIN_MS;
  const now = serviceNowMs - wallAt;
  const change = Math.max(offset.max, now) - Math.min(offset.min, now);
  return serviceNowMs - agoMs - MEASURED_MARGIN_MS - change;
}
