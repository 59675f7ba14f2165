// Writes duplicates.jsonl: every run that no row names. summary.json has their totals and the first of them.

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
      draft ??= await store.draft(DUPLICATES_FILE);
      await draft.write(`${JSON.stringify(run)}\n`);
    },
    commit: async () => draft?.commit(),
    discard: async () => draft?.discard(),
  };
}
