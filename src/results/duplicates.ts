// Writes and reads duplicates.jsonl: every run that no row names. summary.json has their totals and the first of them.

import { linesOf } from '../store/pieces.ts';
import type { Draft, Store } from '../store/store.ts';
import type { DuplicateRun } from './summary.ts';

export const DUPLICATES_FILE = 'duplicates.jsonl';

export type DuplicatesDraft = Pick<Draft, 'commit' | 'discard'> & {
  readonly add: (run: DuplicateRun) => Promise<void>;
};

/** The file exists only if there are duplicates. */
export async function openDuplicates(store: Store): Promise<DuplicatesDraft> {
  let draft: Draft | undefined;
  return {
    add: async (run) => {
      draft ??= await store.draft(DUPLICATES_FILE, 'view');
      await draft.write(`${JSON.stringify(run)}\n`);
    },
    commit: async () => draft?.commit(),
    discard: async () => draft?.discard(),
  };
}

export async function* readDuplicates(store: Store): AsyncGenerator<DuplicateRun> {
  if (!(await store.exists(DUPLICATES_FILE))) return;
  for await (const line of linesOf(store, DUPLICATES_FILE)) yield JSON.parse(line) as DuplicateRun;
}
