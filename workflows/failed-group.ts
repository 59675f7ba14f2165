// What the batch knows about a group whose activity failed.

import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import type { GroupResult } from '../src/batch/events.ts';

/** The result of a group whose activity failed (R2). */
export function resultOfFailed(
  error: unknown,
): GroupResult & { readonly rest: 'not-sent' | 'unconfirmed'; readonly reason: string } {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const reason = cause?.message ?? String(error);
  // The server cancels only a group that no worker has taken.
  const isNotSent = cause instanceof CancelledFailure;
  if (isNotSent || (cause instanceof ApplicationFailure && cause.type === 'NothingSent'))
    return { results: [], rest: 'not-sent', reason };
  if (!(cause instanceof TimeoutFailure)) return { results: [], rest: 'unconfirmed', reason };
  const known = cause.lastHeartbeatDetails as GroupResult | undefined;
  // The worker sends no POST before the server confirms the first heartbeat.
  return known
    ? { ...known, rest: 'unconfirmed', reason: 'the worker that sent it was lost' }
    : { results: [], rest: 'not-sent', reason };
}
