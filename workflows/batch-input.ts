// The argument of a batch's workflow; Temporal keeps it, so every release can read it.

import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { Snapshot } from '../src/batch/state/snapshot.ts';

export type BatchInput = BatchRef & {
  /** Set if the batch had ended: the pass whose rows are sent again. */
  readonly continues?: number;
  /** The version in which the batch started; see src/batch/version.ts. */
  readonly version?: number;
  /** Set by continue-as-new, and for a batch that was rebuilt. */
  readonly snapshot?: Snapshot;
};
