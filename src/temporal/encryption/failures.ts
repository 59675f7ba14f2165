// Converts failures for Temporal: whatever was thrown, messages and stack traces contain no secret.

import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { withoutSecrets } from '../../errors/redact.ts';

class HarmlessFailures extends DefaultFailureConverter {
  // Called separately for each cause too.
  override errorToFailureInner(
    ...thrown: Parameters<DefaultFailureConverter['errorToFailureInner']>
  ): ReturnType<DefaultFailureConverter['errorToFailureInner']> {
    const failure = super.errorToFailureInner(...thrown);
    const { message, stackTrace } = failure;
    return {
      ...failure,
      ...(message == null ? {} : { message: withoutSecrets(message) }),
      ...(stackTrace == null ? {} : { stackTrace: withoutSecrets(stackTrace) }),
    };
  }
}

/** `encodeCommonAttributes`: messages and stack traces become a payload, which the codec encrypts. */
export const failuresThat = (options: { readonly encodeCommonAttributes: boolean }): FailureConverter =>
  new HarmlessFailures(options);

/** The SDK finds it by this name. */
export const failureConverter: FailureConverter = failuresThat({ encodeCommonAttributes: false });
