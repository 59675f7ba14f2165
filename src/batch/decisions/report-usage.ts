// Reports to the pool of the batch, after each change but not too often, and now and then without one, and one report at a time:
// later ones say more. A batch that leaves its pool, or has ended, says so immediately.

import { POOL_SILENT_MS } from '../bounds.ts';
import type { Command } from '../commands.ts';
import { leave, usageOf, wantsMoreAt } from '../pool/membership.ts';
import type { Membership } from '../pool/messages.ts';
import type { State } from '../state/state.ts';
import { NEVER, type Decision } from './decision.ts';

/** A pool and the batches that share it. A batch reports every change to its pool, but not more often than this. */
export const POOL_REPORT_MS = 2_000;

export const reportUsage: Decision = {
  name: 'report-usage',
  dueAt: (state) => {
    if (state.leaves !== undefined) return 0;
    const { membership } = state;
    if (membership === undefined || membership.isReporting) return NEVER;
    const { reported, failure } = membership;
    if (failure !== undefined) return failure.againAt;
    if (reported === undefined) return 0;
    // A pool that was terminated and made again learns from it what the batch holds.
    if (reported.text !== textOf(state, membership)) return reported.at + POOL_REPORT_MS;
    return Math.min(reported.at + POOL_SILENT_MS, Math.max(reported.at + POOL_REPORT_MS, wantsMoreAt(state)));
  },
  act: (state) => {
    if (state.leaves !== undefined) return saidLeaves(state);
    const membership = state.membership as Membership;
    const usage = { ...usageOf(state, membership), number: membership.number + 1 };
    state.membership = {
      ...membership,
      number: usage.number,
      isReporting: true,
      reported: { at: state.now, text: textOf(state, membership) },
    };
    return [{ type: 'reportUsage', pool: state.params.pool as string, usage }];
  },
};

const textOf = (state: State, membership: Membership): string => JSON.stringify(usageOf(state, membership));

function saidLeaves(state: State): readonly Command[] {
  const { leaves = [] } = state;
  state.leaves = undefined;
  return leaves.map((one) => ({ type: 'reportUsage', ...one }));
}

/** A batch that has ended leaves its pool. */
export function leaveAtEnd(state: State): readonly Command[] {
  leave(state, state.params.pool);
  if (state.version >= 4) state.membershipLeft ??= state.membership;
  state.membership = undefined;
  return saidLeaves(state);
}
