// Reads which places a pass adds to the lanes of a batch.

import type { BatchRef } from '../src/batch/batch-ref.ts';
import { summarizedPass } from '../src/results/summary.ts';
import { createContinued, readPass, type PassFile } from '../src/store/passes.ts';
import type { Store } from '../src/store/store.ts';
import type { Deps } from './deps.ts';
import { withStore } from './store-failure.ts';
import { executionOf } from './load-batch.ts';

type LoadedPass = Pick<PassFile, 'segments' | 'by' | 'reason'> & { readonly appended?: number };

type Input = BatchRef & {
  readonly pass: number;
  /** The batch pauses if the store fails. A batch of version 1 to 3 would fail, so Temporal retries its activity. */
  readonly mayPause?: true;
};

/** A pass that cannot be read pauses the batch; nothing else would name the reason. */
export const loadPass = (deps: Deps, input: Input): Promise<LoadedPass> =>
  input.mayPause ? withStore(() => readWanted(deps, input)) : readWanted(deps, input);

async function readWanted(deps: Deps, { pass, ...ref }: Input): Promise<LoadedPass> {
  const { store } = await deps.open(ref);
  await markContinued(store);
  const { segments, by, reason, appended } = await readPass(store, pass);
  return {
    segments,
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
    ...(appended === undefined ? {} : { appended: appended.rows }),
  };
}

/** A batch that goes on although it has written its results must not be continued from them by another workflow run. */
async function markContinued(store: Store): Promise<void> {
  const ended = await summarizedPass(store);
  if (ended !== undefined) await createContinued(store, ended, executionOf());
}
