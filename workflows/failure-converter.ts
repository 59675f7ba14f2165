// Converts failures that the workflow itself throws. If the batch was started with encryption, their messages become a payload,
// which the worker encrypts; otherwise they stay readable in Temporal's web UI.

import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

const readable = new DefaultFailureConverter();
const encoded = new DefaultFailureConverter({ encodeCommonAttributes: true });

export const failureConverter: FailureConverter = {
  errorToFailure: (...thrown) =>
    (workflowInfo().memo?.['encrypted'] === true ? encoded : readable).errorToFailure(...thrown),
  failureToError: (...failure) => readable.failureToError(...failure),
};
