// A claim announces that a command is about to create or extend a batch, so that of two concurrent commands at least one sees the
// other. Nothing can attach to a claim, so giving it up loses nothing.
//
//   claimed ──the batches are listed a last time──▶ looked ──batch.json or the pass is created──▶ created ──▶ claim removed
//      ▲                                              │                                             │ later than FRESH_MS:
//      └────── compared again, after a wait ◀── overtaken ◀──── creation taken back ◀───── listed once more
//
// A command that lists later finds the claim, the batch or its pass, also in another folder, by its place. Other commands give a claim
// up once they have seen it for ABANDONED_MS, so a creation that came late may have missed what they created, and looks once more.

import { randomBytes } from 'node:crypto';
import pMap from 'p-map';
import { isRunsheetError } from '../errors/error.ts';
import { waitInCall } from '../host/call-signal.ts';
import { listBatchFolders, locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { readBatchText, type BatchFile } from '../store/batch-file.ts';
import { openStore } from '../store/open-store.ts';
import { newestPass } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import { batchesAt, ifReached, placesElsewhere, type Place } from './known-places.ts';
import { findOverlap, mayShare, type NewRows } from './reuse/overlap.ts';

export const CLAIMS = '.claims';

/** Half of the time after which other commands give a claim up. */
const FRESH_MS = 15_000;
/** A claim that another command has seen for so long was left by one that was killed. */
const ABANDONED_MS = 30_000;
/** A command that was overtaken looks again after a random time up to this, so that two of them do not meet again. */
const AGAIN_MOST_MS = 2_000;

/**
 * The wait of a command that was overtaken. It was overtaken by a batch or a pass, with which it is compared next, or by a claim, which
 * ends within {@link ABANDONED_MS}; so each other command overtakes it a bounded number of times. `lookMs`: how long its last look took,
 * because two slow looks would meet again after a short wait.
 */
export const waitForOther = (lookMs = 0): Promise<void> =>
  waitInCall(Math.random() * Math.min(FRESH_MS, Math.max(AGAIN_MOST_MS, lookMs)));

/** The batches that rows are compared with, by mark, each with its newest pass. */
export type Compared = ReadonlyMap<string, number>;

/** Called before they are compared: rows that are added later are found by their pass. Those that share no rows have none that count. */
export const comparedWith = async (file: BatchFile, batches: readonly BatchFolder[]): Promise<Compared> => {
  const passOf = async (one: BatchFolder) =>
    [one.file.mark, mayShare(file, one.file) ? await newestPass(one.store) : 0] as const;
  return new Map(await pMap(batches, passOf, { concurrency: CONCURRENCY }));
};

const CONCURRENCY = 32;

type Claimed = {
  readonly out: string;
  /** The batch that is about to be made, or to get rows. */
  readonly file: BatchFile;
  readonly rows: NewRows;
  /** undefined if batches in other folders do not matter. */
  readonly places: string | undefined;
};

export type Seen = {
  readonly compared: Compared;
  /** When claims were first seen. */
  readonly seen: Map<string, number>;
  /** Whether the user has decided about batches in other folders. */
  readonly isElsewhereMeant: boolean;
};

/** Creates batch.json or a pass, and undoes that. */
export type Creation = {
  /** False if the name is taken. */
  readonly create: () => Promise<boolean>;
  /** False if another command has built on the creation already. */
  readonly takeBack: () => Promise<boolean>;
};

export class Claim implements AsyncDisposable {
  readonly #claimed: Claimed;
  readonly #store: Store;
  /** A name of its own: several commands may add rows to the same batch, and none removes the claim of another. */
  readonly #name: string;
  readonly #sinceMs = [performance.now(), Date.now()] as const;

  private constructor(claimed: Claimed) {
    this.#claimed = claimed;
    this.#store = openStore(claimed.out);
    this.#name = `${CLAIMS}/${claimed.file.mark}-${randomBytes(4).toString('hex')}.json`;
  }

  static async make(claimed: Claimed): Promise<Claim> {
    const claim = new Claim(claimed);
    await claim.#store.write(claim.#name, JSON.stringify(claimed.file));
    return claim;
  }

  /** Creates what was claimed, unless another command has taken some of the rows. `seen`: undefined if all rows are bought in any case. */
  async create(
    seen: Seen | undefined,
    { create, takeBack }: Creation,
  ): Promise<'created' | 'taken' | 'overtaken'> {
    const isOvertaken = async (): Promise<boolean> => seen !== undefined && this.isOvertaken(seen);
    if (await isOvertaken()) return 'overtaken';
    if (!(await create())) return 'taken';
    if (this.#isFresh || !(await isOvertaken())) return 'created';
    return (await takeBack()) ? 'overtaken' : 'created';
  }

  /** Milliseconds since it was made. */
  get ageMs(): number {
    const [now, wallNow] = this.#sinceMs;
    // The steady clock stands still while the machine sleeps.
    return Math.max(performance.now() - now, Math.abs(Date.now() - wallNow));
  }

  /** True while no other command may have given the claim up as abandoned. */
  get #isFresh(): boolean {
    return this.ageMs < FRESH_MS;
  }

  /** Whether a batch, a pass or a claim that the rows were not compared with has some of them. */
  async isOvertaken({ compared, seen, isElsewhereMeant }: Seen): Promise<boolean> {
    const { file, rows, out, places } = this.#claimed;
    const elsewhere =
      places === undefined || isElsewhereMeant ? [] : await placesElsewhere(places, { out, file });
    // Keep this order: a claim becomes a batch or a pass before it is removed.
    const claims = await this.#otherClaims(seen, elsewhere);
    const batches = [...(await listBatchFolders(out)), ...(await batchesAt(elsewhere))];
    const passes = await comparedWith(file, batches);
    // What is being added to a batch is not known yet.
    if (claims.some((one) => passes.has(one.file.mark) && mayShare(file, one.file))) return true;
    const own = locationOf(out, file.batch);
    const others = [...claims, ...batches.filter((one) => isNews(one, passes, compared))].filter(
      // Of the same rows under the same name, only one can create batch.json.
      (other) => other.file.content !== file.content || other.folder !== own,
    );
    if (others.length === 0) return false;
    try {
      using overlap = await findOverlap(others, rows);
      return !overlap.isEmpty;
    } catch (error) {
      // A claim was given up while its rows were read; what is wrong with a batch shows when it is compared again.
      if (isRunsheetError(error, 'E504')) return true;
      throw error;
    }
  }

  async #otherClaims(
    seen: Seen['seen'],
    elsewhere: readonly Pick<Place, 'out' | 'mark'>[],
  ): Promise<readonly BatchFolder[]> {
    const { out: own, file } = this.#claimed;
    const found: BatchFolder[] = [];
    const add = async (place: string, isMeant: (mark: string) => boolean): Promise<void> => {
      for (const name of await openStore(place).list(CLAIMS)) {
        const mark = markOf(name);
        const claim = mark !== file.mark && isMeant(mark) ? await freshClaim(place, name, seen) : undefined;
        if (claim !== undefined) found.push(claim);
      }
    };
    await add(own, () => true);
    for (const [place, known] of Map.groupBy(elsewhere, ({ out }) => out)) {
      const marks = new Set(known.map(({ mark }) => mark));
      // A folder that cannot be reached has nothing that could be used.
      await ifReached(add(place, (mark) => marks.has(mark)));
    }
    return found;
  }

  /** A claim that cannot be removed is given up by other commands, so its fault must not hide another one. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.remove(this.#name).catch(() => undefined);
  }
}

const isNews = ({ file: { mark } }: BatchFolder, passes: Compared, compared: Compared): boolean =>
  passes.get(mark) !== compared.get(mark);

const MARK_DIGITS = 16;
const markOf = (name: string): string => name.slice(0, MARK_DIGITS);

/** undefined if there is none, or if it was left by a command that was killed. */
async function freshClaim(out: string, name: string, seen: Seen['seen']): Promise<BatchFolder | undefined> {
  const store = openStore(out);
  const path = `${CLAIMS}/${name}`;
  const file = readBatchText((await store.read(path)) ?? '');
  if (file?.mark !== markOf(name)) return undefined;
  const firstMs = seen.get(name) ?? performance.now();
  seen.set(name, firstMs);
  if (performance.now() - firstMs > ABANDONED_MS) return void (await store.remove(path));
  const folder = locationOf(out, file.batch);
  return { batch: file.batch, folder, file, store: openStore(folder) };
}
