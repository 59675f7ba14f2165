// Failures that begin in the workflow itself. Where the batch was begun with encryption, their words become a payload, which
// the worker encrypts; else they stay as legible as Temporal shows them.

import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

const legible = new DefaultFailureConverter();
const encoded = new DefaultFailureConverter({ encodeCommonAttributes: true });

export const failureConverter: FailureConverter = {
  errorToFailure: (...thrown) =>
    (workflowInfo().memo?.['encrypted'] === true ? encoded : legible).errorToFailure(...thrown),
  failureToError: (...failure) => legible.failureToError(...failure),
};
