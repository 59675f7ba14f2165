// Decides when an unconfirmed attempt is stuck: a proof of absence would have been complete by then.

import type { Unconfirmed } from './state/row-state.ts';
import type { State } from './state/state.ts';

export const isStuck = (state: State, row: Unconfirmed): boolean => state.now >= stuckFrom(state, row);

export function stuckFrom({ params: { timing } }: State, { sentBy }: Unconfirmed): number {
  return sentBy + timing.postDeadlineMs + timing.settleWithoutControlMs + 2 * timing.listGapMs;
}
