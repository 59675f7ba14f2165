// A pass that does not exist yet: its places are written, and creating its file makes them count.

import type { BatchFile } from '../../store/batch-file.ts';
import { splitLocation } from '../../store/batch-folders.ts';
import { newestPass, passName, passText, type PassFile } from '../../store/passes.ts';
import type { Store } from '../../store/store.ts';
import type { Commit } from '../commit.ts';

export type NewPass = Pick<Commit, 'out' | 'creation' | 'checkFree'>;

/** `pass`: one more than the newest pass at the time its rows were chosen. */
export function newPass(
  { store, file: { mark } }: { readonly store: Store; readonly file: Pick<BatchFile, 'mark'> },
  pass: number,
  content: PassFile,
): NewPass {
  const { out, batch } = splitLocation(store.location);
  return {
    out,
    creation: { mark, batch, file: passName(pass), text: passText(content) },
    checkFree: async () => (await newestPass(store)) < pass,
  };
}
