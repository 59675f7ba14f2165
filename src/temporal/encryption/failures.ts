// Converts failures for Temporal, so that messages and stack traces contain no secret, whatever was thrown.

import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { withoutSecrets } from '../../errors/redact.ts';

class HarmlessFailures extends DefaultFailureConverter {
  // The SDK calls this separately for each cause too.
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

/** The SDK finds the converter by this name. */
export const failureConverter: FailureConverter = failuresThat({ encodeCommonAttributes: false });
