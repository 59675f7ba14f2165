// The failures of activities, as a workflow gets them from Temporal's SDK.

import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import type { Ending } from './group.ts';

export const failedActivity = (cause: Error): ActivityFailure =>
  new ActivityFailure(cause.message, 'an activity', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'a worker', cause);

/** The store cannot be written. */
export const storeFailed = (reason: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(reason, 'StoreFailed');

export const otherFailure = (reason: string): ApplicationFailure => ApplicationFailure.nonRetryable(reason);

export function groupFailure(ending: Exclude<Ending, { kind: 'result' }>): Error {
  if (ending.kind === 'failed') return ending.error;
  if (ending.kind === 'stopped') return new CancelledFailure('stopped');
  return new TimeoutFailure('the worker was lost', ending.details, 'HEARTBEAT');
}
