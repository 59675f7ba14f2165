// Opens batches for the activities and the receiver of a worker. batch.json never changes, so each is read once.

import QuickLRU from 'quick-lru';
import { isAllowed } from '../src/store/allowed-folders.ts';
import type { Config } from '../src/host/settings/config.ts';
import { problem } from '../src/errors/error.ts';
import type { Services } from '../src/service-client/open-services.ts';
import { readBatchFile, type BatchFile } from '../src/store/batch-file.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { workflowIdOf, type BatchName, type BatchRef } from '../src/batch/workflow-ids.ts';
import type { OpenBatch } from './deps.ts';

type OpenedFolder = { readonly file: BatchFile; readonly store: Store; readonly folder: string };

/** QuickLRU keeps between this many and twice as many batches. */
const MIN_OPEN = 1_000;

export class OpenBatches {
  readonly #config: Config;
  readonly #services: Services;
  readonly #folderOf: (name: BatchName) => Promise<string | undefined>;
  /** Batches by name; a worker sees every batch of its lifetime. */
  readonly #opened = new QuickLRU<string, OpenedFolder>({ maxSize: MIN_OPEN });

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
    const remembered = this.#opened.get(workflowIdOf(ref));
    if (remembered?.folder === ref.folder) return this.#withService(remembered);
    const opened = await read(ref, this.#config);
    this.#opened.set(workflowIdOf(ref), opened);
    return this.#withService(opened);
  }

  /** Finds a batch by name; undefined if Temporal does not know it. */
  async find({ batch, mark }: BatchName): Promise<OpenBatch | undefined> {
    const remembered = this.#opened.get(workflowIdOf({ batch, mark }));
    if (remembered !== undefined) return this.#withService(remembered);
    const folder = await this.#folderOf({ batch, mark });
    return folder ? this.open({ batch, mark, folder }) : undefined;
  }

  #withService({ file, store }: OpenedFolder): OpenBatch {
    return { file, store, service: this.#services.at(file.service) };
  }
}

async function read({ batch, mark, folder }: BatchRef, config: Config): Promise<OpenedFolder> {
  if (!isAllowed(folder, config)) throw problem('E411', { folder, out: config.out });
  const store = openStore(folder, 'existing');
  const file = await readBatchFile(store);
  if (file === undefined) throw problem('E504', { what: `there is no batch in ${folder}` });
  if (file.batch !== batch || file.mark !== mark)
    throw problem('E504', { what: `${folder} does not hold batch ${batch} (${mark}) but another one` });
  return { file, store, folder };
}
