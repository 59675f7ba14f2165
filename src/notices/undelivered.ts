// The failures of a notification, by whether another try may help.

import { ApplicationFailure } from '@temporalio/common';

/** A failure that another try cannot help. */
export const undeliverable = (reason: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(reason, 'NotNotified');

/** A failure that another try may help, also because another worker with other settings takes it. */
export const undelivered = (reason: string): ApplicationFailure =>
  ApplicationFailure.retryable(reason, 'NotNotified');
