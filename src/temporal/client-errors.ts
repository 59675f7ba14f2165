// The errors of Temporal's client that mean something to callers.

import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';

/** Returns undefined for a workflow that may have ended or been forgotten, and rethrows every other error. */
export function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

/** The innermost cause; for a failed activity, the activity's own error. */
export const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error;

export const isRefusedAs = (error: unknown, status: '3 INVALID_ARGUMENT' | '5 NOT_FOUND'): boolean =>
  isGrpcServiceError(error) && error.message.startsWith(status);
