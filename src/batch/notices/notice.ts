// A notification that a batch sends to one target.

import type { Pause, PauseKind } from '../pausing/pause-kinds.ts';

export type Notice = {
  /** Unique among the notifications of a pass. */
  readonly number: number;
  readonly news: 'done' | 'failures' | 'half-budget' | 'paused';
  readonly to: string;
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
  readonly pass: number;
  readonly pause?: Pick<Pause, 'reason' | 'places'> & { readonly kind: PauseKind };
};
