// Why a notification was not delivered, and whether another try could help.

import { ApplicationFailure } from '@temporalio/common';

/** Another try cannot help. */
export const undeliverable = (reason: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(reason, 'NotNotified');

/** Another try may help. */
export const undelivered = (reason: string): ApplicationFailure =>
  ApplicationFailure.retryable(reason, 'NotNotified');
