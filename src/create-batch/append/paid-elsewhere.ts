// The other batches that have rows which a batch is about to get, or to send again: what they have bought, or may still buy, would be
// bought a second time.

import { dirname } from 'node:path';
import type { BatchFile } from '../../store/batch-file.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';
import { Claim, comparedWith, type Compared, type Creation } from '../claim.ts';
import { batchesAt, placesElsewhere } from '../known-places.ts';
import type { SharedRows } from '../questions.ts';
import { findOverlap, type NewRows } from '../reuse/overlap.ts';

/** Where batches are; without `places` only those in this folder are known. */
export type Where = { readonly out: string; readonly places?: string };

/** As Temporal knows it. */
export type KnownBatch = { readonly mark: string; readonly folder: string; readonly startedAt: Date };

export class OtherBatches {
  readonly #out: string;
  /** undefined in a rehearsal: nothing is paid for. */
  readonly #places: string | undefined;
  readonly #file: BatchFile;
  #compared: Compared = new Map();
  readonly #seen = new Map<string, number>();

  constructor({ out, places }: Where, file: BatchFile) {
    [this.#out, this.#file] = [out, file];
    this.#places = file.service.rehearsal ? undefined : places;
  }

  /** Those of the rows that they have. */
  async compare(rows: NewRows): Promise<readonly SharedRows[]> {
    const [out, file] = [this.#out, this.#file];
    const there = this.#places === undefined ? [] : await placesElsewhere(this.#places, { out, file });
    const elsewhere = (await batchesAt(there)).map((one) => ({ ...one, batch: one.folder }));
    const all = [...(await listBatchFolders(out)), ...elsewhere];
    this.#compared = await comparedWith(file, all);
    using overlap = await findOverlap(
      all.filter((one) => one.file.mark !== file.mark),
      rows,
    );
    return overlap.all;
  }

  /** The folders of those that were started since this one was made, and that are known only to the cluster. */
  away(known: readonly KnownBatch[]): readonly string[] {
    const isAway = ({ mark, folder, startedAt }: KnownBatch): boolean =>
      mark !== this.#file.mark &&
      !this.#compared.has(mark) &&
      dirname(folder) !== this.#out &&
      startedAt >= new Date(this.#file.createdAt);
    return this.#places === undefined ? [] : known.filter(isAway).map(({ folder }) => folder);
  }

  /** Adds a pass with the rows, unless another command has made a batch with some of them, or is about to. `isMeant`: also then. */
  async claim(rows: NewRows, isMeant: boolean, pass: Creation): Promise<boolean> {
    const claimed = { out: this.#out, file: this.#file, rows, places: this.#places };
    await using claim = await Claim.make(claimed);
    const seen = { compared: this.#compared, seen: this.#seen, isElsewhereMeant: false };
    // Awaited here: the claim stands until the pass exists.
    return (await claim.create(isMeant ? undefined : seen, pass)) === 'created';
  }
}
