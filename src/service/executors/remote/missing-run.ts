// Classifies a run that its server does not have: neither in its queue, nor in its history.

import type { AssignedRun } from './assigned-run.ts';

export type Fate =
  | { readonly kind: 'removed' }
  /** A paid service may have executed it, and no request can tell. */
  | { readonly kind: 'doubtful'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string; readonly deaths: number };

const DEATHS_MOST = 2;

/** `isShop`: it sells runs and cannot list them. `neverStopped`: its process is the one that had the run. */
export function fateOf(
  { state, workflow, isWithdrawn }: AssignedRun,
  { name, isShop, neverStopped }: { name: string; isShop: boolean; neverStopped: boolean },
): Fate {
  const { startedMs, deaths } = state;
  // The request may have removed it although its answer was lost.
  if (neverStopped && isWithdrawn && startedMs === undefined)
    return { kind: 'again', reason: 'was to give it to another server: it is sent again', deaths };
  if (neverStopped) return { kind: 'removed' };
  // Whether it had begun is not always known.
  if (workflow.isPaid)
    return { kind: 'doubtful', reason: 'stopped when it had this run, which calls a paid service' };
  if (isShop) return { kind: 'doubtful', reason: 'does not know any more how this run has ended' };
  if (startedMs === undefined)
    return {
      kind: 'again',
      reason: 'was restarted when it had this run, and may have begun with it: it is sent again',
      deaths,
    };
  return deaths + 1 >= DEATHS_MOST
    ? { kind: 'failed', reason: `${name} stopped twice while it executed this run` }
    : {
        kind: 'again',
        reason: 'stopped while it executed this run: it is executed again',
        deaths: deaths + 1,
      };
}
