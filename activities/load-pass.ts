// Reads which places a pass adds to the lanes of a batch.

import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { PassSegment } from '../src/batch/lanes.ts';
import { readPass } from '../src/store/passes.ts';
import type { Deps } from './deps.ts';

/** `by` and `reason`: who added the pass, and why. */
export type LoadedPass = {
  readonly segments: readonly PassSegment[];
  readonly by?: string;
  readonly reason?: string;
};

export async function loadPass(
  deps: Deps,
  { pass, ...ref }: BatchRef & { readonly pass: number },
): Promise<LoadedPass> {
  const { store } = await deps.open(ref);
  const { segments, by, reason } = await readPass(store, pass);
  return { segments, ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
}
