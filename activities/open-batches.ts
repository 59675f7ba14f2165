// Opens batches for the activities and the receiver of a worker. batch.json never changes, so it is read once.

import { isAllowed } from '../src/store/allowed-folders.ts';
import type { Config } from '../src/host/config.ts';
import { problem } from '../src/errors/error.ts';
import type { Services } from '../src/run-service/open-services.ts';
import { readBatchFile, type BatchFile } from '../src/store/batch-file.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import type { BatchName } from '../src/batch/batch-ref.ts';
import type { OpenBatch } from './deps.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';

type Opened = { readonly file: BatchFile; readonly store: Store };

const OPEN_MOST = 1_000;

export class OpenBatches {
  readonly #config: Config;
  readonly #services: Services;
  /** The folder of a batch, by Temporal's memo. */
  readonly #folderOf: (name: BatchName) => Promise<string | undefined>;
  readonly #opened = new Map<string, Opened>();

  constructor(
    config: Config,
    services: Services,
    folderOf: (name: BatchName) => Promise<string | undefined>,
  ) {
    this.#config = config;
    this.#services = services;
    this.#folderOf = folderOf;
  }

  /** Throws E411 if the worker may not use the folder, E504 if the folder does not hold this batch. */
  async open(ref: BatchRef): Promise<OpenBatch> {
    const key = `${ref.batch}~${ref.mark} ${ref.folder}`;
    const opened = this.#opened.get(key) ?? (await read(ref, this.#config));
    this.#opened.set(key, opened);
    const [oldest] = this.#opened.size > OPEN_MOST ? this.#opened.keys() : [];
    if (oldest !== undefined) this.#opened.delete(oldest);
    return { ...opened, service: this.#services.at(opened.file.service) };
  }

  /** Finds a batch by name; undefined if Temporal does not know it. */
  async find({ batch, mark }: BatchName): Promise<OpenBatch | undefined> {
    const known = [...this.#opened.values()].find(({ file }) => file.batch === batch && file.mark === mark);
    const folder = known?.store.location ?? (await this.#folderOf({ batch, mark }));
    return folder ? this.open({ batch, mark, folder }) : undefined;
  }
}

async function read({ batch, mark, folder }: BatchRef, config: Config): Promise<Opened> {
  if (!isAllowed(folder, config)) throw problem('E411', { folder, out: config.out });
  const store = openStore(folder, 'existing');
  const file = await readBatchFile(store);
  if (file === undefined) throw problem('E504', { what: `there is no batch in ${folder}` });
  if (file.batch !== batch || file.mark !== mark)
    throw problem('E504', { what: `${folder} does not hold batch ${batch} (${mark}) but another one` });
  return { file, store };
}
