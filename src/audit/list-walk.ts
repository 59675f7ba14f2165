// How a run list is read back to a moment: newest first, page by page, by what comes and not by what was asked for. A service
// may give fewer runs a page than asked, so only an empty page, or one whose runs are all old enough, ends the list. It moves
// while it is read, so a run may come twice.

import type { ReadBack } from '../batch/commands.ts';

/** A list that gives nothing but what it gave before has no end. */
const PAGES_WITHOUT_NEWS = 50;

/** `ended`: the list has no more runs; `far-enough`: those that follow are older than wanted. */
export type Walked = 'more' | 'ended' | 'far-enough';

export class ListWalk {
  /** What to ask for next. */
  offset = 0;
  readonly #oldestMs: number;
  #seen = new Set<string>();
  #withoutNews = 0;
  #pages = 0;
  /** The first run of the latest page whose number is a power of two. */
  #landmark: { readonly id: string; readonly page: number } | undefined;

  /** Runs created before `oldestMs`, by the service's clock, are not wanted. */
  constructor(oldestMs: number) {
    this.#oldestMs = oldestMs;
  }

  /** Whether this page was the last one. Throws where the list has no end. */
  take(page: readonly { readonly id: string; readonly createdAtMs?: number | undefined }[]): Walked {
    if (page.length === 0) return 'ended';
    this.offset += page.length;
    // A page shares runs with the one before it only where the list moved.
    const isNews = page.some(({ id }) => !this.#seen.has(id));
    this.#seen = new Set(page.map(({ id }) => id));
    this.#withoutNews = isNews ? 0 : this.#withoutNews + 1;
    if (this.#withoutNews >= PAGES_WITHOUT_NEWS || this.#isBackAtLandmark(page))
      throw new Error('the run list repeats itself without an end');
    const isOldEnough = page.every(({ createdAtMs }) => (createdAtMs ?? this.#oldestMs) < this.#oldestMs);
    return isOldEnough ? 'far-enough' : 'more';
  }

  /** Whether the list has begun anew (Brent's cycle detection): runs that only moved come again within a few pages. */
  #isBackAtLandmark(page: readonly { readonly id: string }[]): boolean {
    this.#pages += 1;
    const { id, page: from } = this.#landmark ?? { id: undefined, page: 0 };
    if (this.#pages - from >= PAGES_WITHOUT_NEWS && page.some((run) => run.id === id)) return true;
    const isPowerOfTwo = (this.#pages & (this.#pages - 1)) === 0;
    if (isPowerOfTwo && page[0] !== undefined) this.#landmark = { id: page[0].id, page: this.#pages };
    return false;
  }
}

/** How many runs of a batch a whole list shows, where so many are known: the latest may still be missing. */
export const leastShown = (known: number, concurrency: number): number => Math.max(0, known - concurrency);

/** What clocks may be set by while a batch runs without anybody noticing it. */
const MARGIN_MS = 3_600_000;

/**
 * The oldest creation that matters, by the service's clock: that of what was sent `agoMs` ago, with a margin, and with the
 * largest step that the service's clock was seen to make beside Temporal's.
 */
export function readBackTo(serviceNowMs: number, { agoMs, wallAt, offset }: ReadBack): number {
  const now = serviceNowMs - wallAt;
  const { min, max } = offset ?? { min: now, max: now };
  return serviceNowMs - agoMs - MARGIN_MS - (Math.max(max, now) - Math.min(min, now));
}
