// Finds other batches with rows that a batch is about to append or to send again. A run that another batch has bought, or may still
// buy, would be bought twice.

import { dirname } from 'node:path';
import type { BatchFile } from '../../store/batch-file.ts';
import { listBatchFolders, splitLocation, type BatchFolder } from '../../store/batch-folders.ts';
import { commit, comparedWith, type Compared } from '../commit.ts';
import { batchesAt, placesElsewhere } from '../known-places.ts';
import { MadeLog } from '../batch-log.ts';
import type { SharedRows } from '../questions.ts';
import { findOverlap, type NewRows } from '../reuse/overlap.ts';
import type { NewPass } from './new-pass.ts';

/** Where batches in other folders are listed; without it, only batches beside this one are known. */
export type Where = { readonly places?: string };

/** A batch as Temporal knows it. */
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

  /** The rows that other batches have too. */
  async compare(rows: NewRows): Promise<readonly SharedRows[]> {
    const [out, file] = [this.#out, this.#file];
    this.#position = await new MadeLog(out).position();
    const places = this.#places === undefined ? [] : await placesElsewhere(this.#places, { out, file });
    const elsewhere = (await batchesAt(places)).map((batch) => ({ ...batch, batch: batch.folder }));
    const batches = [...(await listBatchFolders(out)), ...elsewhere];
    this.#compared = await comparedWith(file, batches);
    using overlap = await findOverlap(
      batches.filter((batch) => batch.file.mark !== file.mark),
      rows,
    );
    return overlap.all;
  }

  /** The folders of batches that only the cluster knows, and that were started after this batch was made. */
  away(clusterBatches: readonly KnownBatch[]): readonly string[] {
    const isAway = ({ mark, folder, startedAt }: KnownBatch): boolean =>
      mark !== this.#file.mark &&
      !this.#compared.has(mark) &&
      dirname(folder) !== this.#out &&
      startedAt >= new Date(this.#file.createdAt);
    return this.#places === undefined ? [] : clusterBatches.filter(isAway).map(({ folder }) => folder);
  }

  /** Adds a pass with the rows, unless another command has taken some of them since the comparison; with `isMeant` even then. */
  async commit(rows: NewRows, isMeant: boolean, pass: NewPass): Promise<boolean> {
    const params = { file: this.#file, rows, places: this.#places, ...pass };
    const comparing = { position: this.#position, compared: this.#compared, isElsewhereMeant: false };
    return (await commit(params, isMeant ? undefined : comparing)) === 'made';
  }
}
