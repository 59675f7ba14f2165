// How long a change waits for others, as a share of the usual run time: each publication and each part costs history
// events, and while runs take a minute no change is urgent.

import type { State } from '../state/state.ts';

/**
 * The shares of the usual run time after which changes are published and ended rows collected: `along` in a step that
 * happens anyway, `alone` in a step of its own. Runs longer than MAX_SHARED_RUN_MS count as that long.
 */
export const PUBLISH_SHARES = { along: 0.25, alone: 2 } as const;
export const COLLECT_SHARES = { along: 0.5, alone: 2 } as const;
const MAX_SHARED_RUN_MS = 20_000;

/**
 * The given share of the usual run time, within limits. While attempts are unconfirmed, the batch wakes often: within
 * a long wait, a jump of Temporal's clock would count as time, and time proves runs absent.
 */
export function runTimeShareMs(
  { usualRunMs, phases }: Pick<State, 'usualRunMs' | 'phases'>,
  leastMs: number,
  share: number,
): number {
  if (phases.unconfirmed > 0) return leastMs;
  return Math.max(leastMs, share * Math.min(usualRunMs, MAX_SHARED_RUN_MS));
}
