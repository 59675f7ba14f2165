// Walks a run list page by page, newest first, back to a given time. A service may return smaller pages than requested,
// so only an empty page, or a page with old runs only, ends the walk. New runs shift the list meanwhile, so a run may
// appear twice.

/** After this many pages without a new run, the list is considered endless. */
const PAGES_WITHOUT_NEWS = 50;

/** `ended`: the list has no more runs; `far-enough`: all further runs are too old. */
export type Walked = 'more' | 'ended' | 'far-enough';

export class ListWalk {
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
    if (this.#withoutNews >= PAGES_WITHOUT_NEWS || this.#repeatsWith(page))
      throw new Error('the run list repeats itself endlessly');
    const isOldEnough = page.every(({ createdAtMs }) => (createdAtMs ?? this.#oldestMs) < this.#oldestMs);
    return isOldEnough ? 'far-enough' : 'more';
  }

  /** Counts the page; true if the list has started again (Brent's cycle detection). Shifted runs appear again within a few pages only. */
  #repeatsWith(page: readonly { readonly id: string }[]): boolean {
    this.#pages += 1;
    const { id, page: from } = this.#landmark ?? { id: undefined, page: 0 };
    if (this.#pages - from >= PAGES_WITHOUT_NEWS && page.some((run) => run.id === id)) return true;
    const isPowerOfTwo = (this.#pages & (this.#pages - 1)) === 0;
    if (isPowerOfTwo && page[0] !== undefined) this.#landmark = { id: page[0].id, page: this.#pages };
    return false;
  }
}
