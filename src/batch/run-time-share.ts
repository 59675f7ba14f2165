// How long a change waits for others, by the time that runs usually take: each publication and each part costs events of the
// history, and of runs that take a minute no change is urgent.

import { SHARED_RUN_MOST_MS } from './bounds.ts';
import type { State } from './state/state.ts';

/**
 * The given share of the usual run time, within limits; version 1 knows only the least. While attempts are unconfirmed, the batch
 * wakes often: a jump of Temporal's clock within a long wait would count as time, which proves runs absent.
 */
export function runTimeShareMs(
  { usualRunMs, version, phases }: Pick<State, 'usualRunMs' | 'version' | 'phases'>,
  leastMs: number,
  share: number,
): number {
  if (version < 2 || phases.unconfirmed > 0) return leastMs;
  return Math.max(leastMs, share * Math.min(usualRunMs, SHARED_RUN_MOST_MS));
}
