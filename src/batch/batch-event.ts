// One thing that happened to the batch as a whole, for `events/` in its folder.

import type { LimitChange } from './params.ts';
import type { PauseKind } from './pausing/pause-kinds.ts';

export type BatchEvent = {
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
  readonly event:
    | 'paused'
    | 'continued'
    | 'resumed'
    | 'scaled'
    | 'cancelled'
    | 'rebuilt'
    | 'retried'
    | 'adapted'
    | 'appended'
    /** A notification was delivered, or could not be delivered. */
    | 'notified'
    | 'not-notified'
    /** Files could not be fetched; their rows wait. */
    | 'files-deferred'
    /** Rows of a size class start on a higher rung of the ladder. */
    | 'climbed';
  readonly kind?: PauseKind;
  /** A cancel that also cancelled the running runs. */
  readonly running?: true;
  /** Who gave the command. */
  readonly by?: string;
  readonly reason?: string;
  /** The places of the rows that a pause is about. */
  readonly places?: readonly number[];
  /** What changed, in words and as limits. */
  readonly note?: string;
  readonly limits?: LimitChange;
};
