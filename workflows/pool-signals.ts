// The signals and the memo of a pool, with types for both sides. Like a batch, it has no queries and no updates.

import { defineSignal } from '@temporalio/workflow';
import type { MemberUsage } from '../src/batch/pool/messages.ts';
import type { ShownPool } from '../src/batch/pool/shown-pool.ts';

export const usage = defineSignal<[MemberUsage]>('usage');

export const resizePool = defineSignal<[{ readonly commandId: string; readonly size: number }]>('resize');

/** Frees the slots of a member whose workflow no longer runs. */
export const releaseMember =
  defineSignal<[{ readonly commandId: string; readonly member: string }]>('release');

export type PoolMemo = { readonly encrypted?: boolean; readonly pool?: ShownPool };

export const poolIdOf = (pool: string): string => `runsheet-pool:${pool}`;
