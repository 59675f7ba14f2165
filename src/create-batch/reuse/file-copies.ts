// Copies files between batches that are not on this machine, where neither links nor renames exist.

import pMap from 'p-map';
import { z } from 'zod';
import { problem } from '../../errors/error.ts';
import { jsonIn, shortened } from '../../errors/outside-text.ts';
import { OUTPUTS } from '../../results/output-paths.ts';
import { isBatchName, locationOf } from '../../store/batch-folders.ts';
import { linesOf } from '../../store/pieces.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';

export type FileCopy = {
  /** The name of the batch, which lies in the same place, and the file there. */
  readonly batch: string;
  readonly path: string;
  readonly to: string;
};

/** The layout of the new batch, and the place of all batches. */
type Target = { readonly store: Store; readonly out: string };

/** The folder of a layout that has the results of reused rows. */
export const REUSED = 'reused';

const AT_A_TIME = 16;

/**
 * Copies all files that `list` names; does nothing without a list. Throws E504 if one of them is missing, or if the list names
 * another place than outputs of batches in `out`, because others may write to the bucket: it must not get files of this machine.
 */
export async function copyListed({ store, out }: Target, list: string): Promise<void> {
  if (!(await store.exists(list))) return;
  const copy = async (line: string): Promise<void> => {
    const { batch, path, to } = listedCopy(line, `${store.location}/${list}`);
    await copyFile({ store: openStore(locationOf(out, batch)), name: path }, { store, name: to });
  };
  await pMap(linesOf(store, list), copy, { concurrency: AT_A_TIME });
}

/** The copy that a line of the list names. Throws E504. */
function listedCopy(line: string, list: string): FileCopy {
  const copy = schema.safeParse(jsonIn(line)).data;
  if (copy !== undefined) return copy;
  throw problem('E504', {
    what: `${list} names a file that is no output of a batch in this place: ${shortened(line, 200)}`,
  });
}

const isIn = (folder: string, name: string): boolean =>
  name.startsWith(`${folder}/`) && !/\p{Cc}|\\/u.test(name) && name.split('/').every(isBatchName);

/** Nothing but outputs of batches. */
const schema = z.object({
  batch: z.string().refine(isBatchName),
  path: z.string().refine((name) => isIn(OUTPUTS, name)),
  to: z.string().refine((name) => isIn(`${REUSED}/${OUTPUTS}`, name)),
});

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
