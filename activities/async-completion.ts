// Completes and heartbeats activities by task token. A token does not name its workflow, which the payload converter needs, so
// the context comes from the running activity.

import { activityInfo } from '@temporalio/activity';
import { AsyncCompletionClient } from '@temporalio/client';

export class OwnCompletion extends AsyncCompletionClient {
  protected override serializationContextFor(
    ...args: Parameters<AsyncCompletionClient['serializationContextFor']>
  ): ReturnType<AsyncCompletionClient['serializationContextFor']> {
    return super.serializationContextFor(...args) ?? ownContext();
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
