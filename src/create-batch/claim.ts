// That a command is about to make a batch, so that of two commands at the same moment at least one sees the other. A claim is written
// before the places are listed a last time, and removed when batch.json exists: a command that lists later finds the claim or the batch.
// Nothing can attach to a claim, so giving it up loses nothing.

import { isRunsheetError } from '../errors/error.ts';
import { listBatchFolders, locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { readBatchText, type BatchFile } from '../store/batch-file.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { findOverlap } from './reuse/overlap.ts';

export const CLAIMS = '.claims';

/** A command that was stopped for longer looks again. */
const FRESH_MS = 15_000;
/** A claim that another command has seen for so long was left by one that was killed. */
const ABANDONED_MS = 30_000;

/** Another batch with some of the rows has come, or is about to come. */
export class Overtaken extends Error {}

type Claimed = { readonly out: string; readonly file: BatchFile; readonly layout: Store };

export class Claim implements AsyncDisposable {
  readonly #claimed: Claimed;
  readonly #places: Store;
  readonly #sinceMs = [performance.now(), Date.now()] as const;

  private constructor(claimed: Claimed) {
    this.#claimed = claimed;
    this.#places = openStore(claimed.out);
  }

  static async make(claimed: Claimed): Promise<Claim> {
    const claim = new Claim(claimed);
    await claim.#places.write(claim.#name, JSON.stringify(claimed.file));
    return claim;
  }

  get #name(): string {
    return `${CLAIMS}/${this.#claimed.file.mark}.json`;
  }

  /** Whether no other command may have given the claim up for abandoned; one clock stands still in sleep. */
  get isFresh(): boolean {
    const [now, wallNow] = this.#sinceMs;
    return performance.now() - now < FRESH_MS && Math.abs(Date.now() - wallNow) < FRESH_MS;
  }

  /** Whether a batch or a claim that the rows were not compared with has some of them. `seen`: when claims were first seen. */
  async isOvertaken(compared: ReadonlySet<string>, seen: Map<string, number>): Promise<boolean> {
    const { file, layout, out } = this.#claimed;
    // Keep this order: a claim becomes a batch before it is removed.
    const claims = await this.#otherClaims(seen);
    const batches = (await listBatchFolders(out)).filter(({ file: { mark } }) => !compared.has(mark));
    const others = [...claims, ...batches].filter(
      // Of the same rows under the same name, only one can create batch.json.
      (other) => other.file.content !== file.content || other.batch !== file.batch,
    );
    if (others.length === 0) return !this.isFresh;
    try {
      using overlap = await findOverlap(others, { file, layout });
      return !overlap.isEmpty || !this.isFresh;
    } catch (error) {
      // A claim was given up while its rows were read; what is wrong with a batch shows when it is compared again.
      if (isRunsheetError(error, 'E504')) return true;
      throw error;
    }
  }

  async #otherClaims(seen: Map<string, number>): Promise<readonly BatchFolder[]> {
    const { out, file: own } = this.#claimed;
    const found: BatchFolder[] = [];
    for (const name of await this.#places.list(CLAIMS)) {
      const file = readBatchText((await this.#places.read(`${CLAIMS}/${name}`)) ?? '');
      if (file === undefined || file.mark === own.mark) continue;
      const firstMs = seen.get(file.mark) ?? performance.now();
      seen.set(file.mark, firstMs);
      const isLeft = performance.now() - firstMs > ABANDONED_MS;
      if (isLeft) await this.#places.remove(`${CLAIMS}/${name}`);
      const folder = locationOf(out, file.batch);
      if (!isLeft) found.push({ batch: file.batch, folder, file, store: openStore(folder) });
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#places.remove(this.#name);
  }
}
