// Completing and heartbeating by task token. A token does not tell whose activity it is, so that the SDK could not say which
// workflow a payload belongs to; the activity that calls knows.

import { activityInfo } from '@temporalio/activity';
import { AsyncCompletionClient } from '@temporalio/client';

export class OwnCompletion extends AsyncCompletionClient {
  protected override serializationContextFor(
    ...asked: Parameters<AsyncCompletionClient['serializationContextFor']>
  ): ReturnType<AsyncCompletionClient['serializationContextFor']> {
    return super.serializationContextFor(...asked) ?? ownContext();
  }
}

function ownContext(): ReturnType<AsyncCompletionClient['serializationContextFor']> {
  const { activityId, namespace, workflowExecution } = activityInfo();
  const workflowId = workflowExecution?.workflowId;
  return {
    type: 'activity',
    namespace,
    activityId,
    isLocal: false,
    ...(workflowId === undefined ? {} : { workflowId }),
  };
}
