// Failures as Temporal is told of them: whatever was thrown, their words and stacks carry no secret.

import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { withoutSecrets } from '../../errors/redact.ts';

class HarmlessFailures extends DefaultFailureConverter {
  // Causes come through here as well, each by itself.
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

/** `encodeCommonAttributes`: words and stacks become a payload, which the codec encrypts. */
export const failuresThat = (options: { readonly encodeCommonAttributes: boolean }): FailureConverter =>
  new HarmlessFailures(options);

/** By its name the SDK finds it. */
export const failureConverter: FailureConverter = failuresThat({ encodeCommonAttributes: false });
