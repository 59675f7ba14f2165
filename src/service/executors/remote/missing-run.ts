// Classifies a run that its server does not have: neither in its queue, nor in its history.

import type { AssignedRun } from './assigned-run.ts';

export type MissingRun =
  | { readonly kind: 'removed' }
  /** A paid service may have executed it, and no request can tell. */
  | { readonly kind: 'end-unknown'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string; readonly deaths: number };

const DEATHS_MOST = 2;

/** `cannotListRuns`: it sells runs and cannot list them. `neverStopped`: its process is the one that had the run. */
export function classifyMissing(
  { state, workflow, isWithdrawn }: AssignedRun,
  { name, cannotListRuns, neverStopped }: { name: string; cannotListRuns: boolean; neverStopped: boolean },
): MissingRun {
  const { startedMs, deaths } = state;
  // The request may have removed it although its answer was lost.
  if (neverStopped && isWithdrawn && startedMs === undefined)
    return { kind: 'again', reason: 'was to give it to another server: it is sent again', deaths };
  if (neverStopped) return { kind: 'removed' };
  // Whether it had begun is not always known.
  if (workflow.isPaid)
    return { kind: 'end-unknown', reason: 'stopped when it had this run, which calls a paid service' };
  if (cannotListRuns) return { kind: 'end-unknown', reason: 'does not know any more how this run has ended' };
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
