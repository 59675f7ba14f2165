// The other batches that have rows which a batch is about to get, or to send again: what they have bought, or may still buy, would be
// bought a second time.

import { dirname } from 'node:path';
import type { BatchFile } from '../../store/batch-file.ts';
import { listBatchFolders, splitLocation, type BatchFolder } from '../../store/batch-folders.ts';
import { commit, comparedWith, type Compared } from '../commit.ts';
import { batchesAt, placesElsewhere } from '../known-places.ts';
import { MadeLog } from '../made-log.ts';
import type { SharedRows } from '../questions.ts';
import { findOverlap, type NewRows } from '../reuse/overlap.ts';
import type { NewPass } from './new-pass.ts';

/** Where batches in other folders are known; without it, only those in the folder of the batch are. */
export type Where = { readonly places?: string };

/** As Temporal knows it. */
export type KnownBatch = { readonly mark: string; readonly folder: string; readonly startedAt: Date };

export class OtherBatches {
  readonly #out: string;
  /** undefined in a rehearsal: nothing is paid for. */
  readonly #places: string | undefined;
  readonly #file: BatchFile;
  #compared: Compared = new Map();
  #position = 0;

  constructor({ places }: Where, { store, file }: Pick<BatchFolder, 'store' | 'file'>) {
    [this.#out, this.#file] = [splitLocation(store.location).out, file];
    this.#places = file.service.rehearsal ? undefined : places;
  }

  /** Those of the rows that they have. */
  async compare(rows: NewRows): Promise<readonly SharedRows[]> {
    const [out, file] = [this.#out, this.#file];
    this.#position = await new MadeLog(out).position();
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

  /** Adds a pass with the rows, unless another command has got some of them since they were compared. `isMeant`: also then. */
  async commit(rows: NewRows, isMeant: boolean, pass: NewPass): Promise<boolean> {
    const params = { file: this.#file, rows, places: this.#places, ...pass };
    const comparing = { position: this.#position, compared: this.#compared, isElsewhereMeant: false };
    return (await commit(params, isMeant ? undefined : comparing)) === 'made';
  }
}
