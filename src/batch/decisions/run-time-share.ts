// How long a change waits for others, by the time that runs usually take: each publication and each part costs events of the
// history, and of runs that take a minute no change is urgent.

import type { State } from '../state/state.ts';

/**
 * If runs take longer, what has changed is published, and ended rows are collected, after these shares of the usual run time: the
 * first one in a step that happens anyway, the second one in a step of its own. Runs of an hour count as runs of this time.
 */
export const PUBLISH_SHARES = { along: 0.25, alone: 2 } as const;
export const COLLECT_SHARES = { along: 0.5, alone: 2 } as const;
const SHARED_RUN_MOST_MS = 20_000;

/**
 * The given share of the usual run time, within limits. While attempts are unconfirmed, the batch wakes often: a jump of Temporal's clock within a long wait would count as time, which proves runs absent.
 */
export function runTimeShareMs(
  { usualRunMs, phases }: Pick<State, 'usualRunMs' | 'phases'>,
  leastMs: number,
  share: number,
): number {
  if (phases.unconfirmed > 0) return leastMs;
  return Math.max(leastMs, share * Math.min(usualRunMs, SHARED_RUN_MOST_MS));
}
