// duplicates.jsonl: the duplicate runs of an ended batch. A batch without duplicates has no such file.

import { linesOf } from '../store/pieces.ts';
import type { Draft, Store } from '../store/store.ts';

export type DuplicateRun = {
  readonly row: number;
  readonly attempt: number;
  readonly run_id: string;
  readonly status: string;
  readonly gpu?: string;
  readonly gpu_seconds: number;
  readonly cost_usd?: number;
};

export const DUPLICATES_FILE = 'duplicates.jsonl';

type DuplicatesDraft = Pick<Draft, 'commit' | 'discard'> & {
  readonly add: (run: DuplicateRun) => Promise<void>;
};

/** Creates the file when the first run is added. */
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
