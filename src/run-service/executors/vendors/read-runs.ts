// The runs at a vendor that shows no list: each is read by the vendor's id of it, and a run whose id is not
// known is `absent`, which proves nothing there.

import { Blocked, unread, type Seats, type Seen, type Sent } from '../backend.ts';

/** The most runs that are read in a round. */
const MAX_READ = 20;
const LEAST_SEATS = 4;

type ReadVendor = {
  read(ref: string): Promise<Seen>;
  /** Throws Unreachable if the vendor refuses or answers nothing at all. `ref`: a run that could not be read. */
  assertThere(ref: string): Promise<void>;
  /** How many runs the vendor gets, if it tells when it is full. */
  readonly seats?: Seats;
};

export class ReadRuns {
  readonly #vendor: ReadVendor;
  readonly #refs = new Map<string, string>();
  /** When each run was last read; the oldest is read first. */
  readonly #readAt = new Map<string, number>();
  /** The runs that executed or ended when they were last read. */
  readonly #begun = new Set<string>();

  constructor(vendor: ReadVendor) {
    this.#vendor = vendor;
  }

  /**
   * Twice the number of runs that execute, because the vendor's queue takes any number, and a run that waits
   * there for too long is ended by its own time limit.
   */
  get seats(): Seats {
    return this.#vendor.seats ?? { kind: 'given', count: Math.max(LEAST_SEATS, 2 * this.#begun.size) };
  }

  accepted(id: string, ref: string): void {
    this.#refs.set(id, ref);
  }

  refOf = (id: string): string | undefined => this.#refs.get(id);

  forget(id: string): void {
    this.#refs.delete(id);
    this.#readAt.delete(id);
    this.#begun.delete(id);
  }

  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    const states = new Map<string, Seen>();
    const placed = runs.flatMap(({ id, ref = this.#refs.get(id) }) => {
      if (ref !== undefined) return [{ id, ref }];
      states.set(id, { at: 'absent' });
      return [];
    });
    const due = placed.toSorted((a, b) => this.#lastRead(a.id) - this.#lastRead(b.id)).slice(0, MAX_READ);
    await Promise.all(due.map(async ({ id, ref }) => states.set(id, await this.#read(id, ref))));
    const unreadRun = due.find(({ id }) => states.get(id)?.at === 'unread');
    // A run that cannot be read is a fault of the run only if the vendor answers otherwise.
    if (unreadRun !== undefined) await this.#vendor.assertThere(unreadRun.ref);
    return states;
  }

  #lastRead = (id: string): number => this.#readAt.get(id) ?? 0;

  async #read(id: string, ref: string): Promise<Seen> {
    this.#refs.set(id, ref);
    this.#readAt.set(id, performance.now());
    const state = await this.#vendor.read(ref).catch((error: unknown) => {
      if (error instanceof Blocked) throw error;
      return unread(error);
    });
    if (state.at === 'running' || state.at === 'ended') this.#begun.add(id);
    if (state.at === 'waiting') this.#begun.delete(id);
    return { ...state, ref };
  }
}
