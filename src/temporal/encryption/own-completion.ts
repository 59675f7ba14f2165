// Completes and heartbeats activities by task token. A token names neither its workflow, which the payload converter needs, nor the
// call, which the label of the payload names (src/batch/payloads/labels.ts), so both come from the running activity.

import { activityInfo } from '@temporalio/activity';
import { AsyncCompletionClient } from '@temporalio/client';
import { activityLabel } from '../../batch/payloads/labels.ts';
import { labelled } from './labelled.ts';

type Context = ReturnType<AsyncCompletionClient['serializationContextFor']>;

export class OwnCompletion extends AsyncCompletionClient {
  protected override serializationContextFor(
    ...args: Parameters<AsyncCompletionClient['serializationContextFor']>
  ): Context {
    return super.serializationContextFor(...args) ?? ownContext();
  }

  override complete(taskToken: unknown, result: unknown): Promise<void> {
    return super.complete(taskToken as Uint8Array, labelled(ownLabel('result'), result));
  }

  override heartbeat(taskToken: unknown, details: unknown): Promise<void> {
    return super.heartbeat(taskToken as Uint8Array, labelled(ownLabel('heartbeat'), details));
  }
}

function ownContext(): Context {
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

function ownLabel(part: 'result' | 'heartbeat'): string {
  const { activityType, activityId, workflowType = '', workflowExecution } = activityInfo();
  return activityLabel(
    { activityType, activityId, workflowType, runId: workflowExecution?.runId ?? '' },
    part,
  );
}
