// Copies files between batches that are not on this machine, where neither links nor renames exist.

import pMap from 'p-map';
import { problem } from '../../errors/error.ts';
import { linesOf } from '../../store/lines.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';

/** A file of an earlier batch that is still to be copied. */
export type FileCopy = {
  /** The location of the batch, and the file there. */
  readonly batch: string;
  readonly path: string;
  /** The copy. */
  readonly to: string;
};

const AT_A_TIME = 16;

/** Copies all files that `list` in `store` names; does nothing without a list. Throws E504 if one of them is missing. */
export async function copyListed(store: Store, list: string): Promise<void> {
  if (!(await store.exists(list))) return;
  const copy = async (line: string): Promise<void> => {
    const { batch, path, to } = JSON.parse(line) as FileCopy;
    await copyFile({ store: openStore(batch), name: path }, { store, name: to });
  };
  await pMap(linesOf(store.open(list)), copy, { concurrency: AT_A_TIME });
}

/** Copies these files within a store. */
export const copyAll = async (
  store: Store,
  files: readonly { readonly from: string; readonly to: string }[],
): Promise<void> => {
  const copy = ({ from, to }: (typeof files)[number]) => copyFile({ store, name: from }, { store, name: to });
  await pMap(files, copy, { concurrency: AT_A_TIME });
};

type Place = { readonly store: Store; readonly name: string };

async function copyFile(from: Place, to: Place): Promise<void> {
  try {
    const isCopied = await to.store.copyFrom?.(from.store.location, from.name, to.name);
    if (!isCopied) await readAndWrite(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw removedMeanwhile(`${from.store.location}/${from.name}`, error);
  }
}

async function readAndWrite(from: Place, to: Place): Promise<void> {
  const draft = await to.store.draft(to.name);
  try {
    for await (const chunk of from.store.open(from.name) as AsyncIterable<Uint8Array>)
      await draft.write(chunk);
    await draft.commit();
  } finally {
    await draft.discard();
  }
}

export const removedMeanwhile = (path: string, cause: unknown) =>
  problem('E504', { what: `${path} was removed while its batch was read` }, { cause });
