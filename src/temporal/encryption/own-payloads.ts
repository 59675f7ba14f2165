// The activity side of the labels (src/batch/payloads/labels.ts): an activity runs only with the input that its workflow wrote
// for this call. The codec passes the label of the input as a second argument (worker-codec.ts).

import { activityInfo, type Context } from '@temporalio/activity';
import { AsyncCompletionClient } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { activityLabel, isOwnWorkflow, REFUSED } from '../../batch/payloads/labels.ts';
import { codedMessage, problem } from '../../errors/error.ts';
import { labelled } from './labelled.ts';
import type { PayloadKeys } from './payload-keys.ts';

/** How an activity has ended, which decides the kind of its next payloads. */
const ended = new WeakMap<object, 'result' | 'failure'>();

/** The kind of payload that this activity writes now. */
export const phaseOf = (activity: Context): 'heartbeat' | 'result' | 'failure' =>
  ended.get(activity) ?? 'heartbeat';

/** The label of a payload of this activity. */
export const labelIn = (
  { activityType, activityId, workflowType = '', workflowExecution }: Context['info'],
  part: Parameters<typeof activityLabel>[1],
): string =>
  activityLabel({ activityType, activityId, workflowType, runId: workflowExecution?.runId ?? '' }, part);

/** The first interceptor: the SDK converts the result or the error after it. */
export const noteEnd: ActivityInterceptorsFactory = (activity) => ({
  inbound: {
    execute: async (input, next) => {
      try {
        const result = await next(input);
        ended.set(activity, 'result');
        return result;
      } catch (error) {
        ended.set(activity, 'failure');
        throw error;
      }
    },
  },
});

/**
 * Refuses an input that the workflow did not write for this call. Fails with `NothingSent`, so it follows
 * `onlyFirstTry`.
 */
export const onlyOwnInput =
  ({ keys, readsPlain }: PayloadKeys): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        if (!isOwnWorkflow(info.workflowType ?? '')) return next(input);
        const [value, label] = input.args;
        const isOwn =
          label === undefined ? readsPlain || keys.length === 0 : label === labelIn(info, 'input');
        if (!isOwn) refuse(info.workflowExecution?.workflowId ?? '', label);
        return next({ ...input, args: [value] });
      },
    },
  });

function refuse(owner: string, label: unknown): never {
  const reason = typeof label === 'string' ? label : '';
  const why = `it was encrypted for another place: ${reason || 'nothing'}`;
  throw ApplicationFailure.create({
    message: reason.startsWith(REFUSED)
      ? reason.slice(REFUSED.length + 1)
      : codedMessage(problem('E409', { owner, why })),
    type: 'NothingSent',
    details: ['nothing was sent'],
  });
}

/**
 * Completes and heartbeats activities by task token. A token names neither the workflow, which the payload converter
 * needs, nor the call, which the label of the payload names (src/batch/payloads/labels.ts), so both come from the
 * running activity.
 */
type CallContext = ReturnType<AsyncCompletionClient['serializationContextFor']>;

export class OwnCompletion extends AsyncCompletionClient {
  protected override serializationContextFor(
    ...args: Parameters<AsyncCompletionClient['serializationContextFor']>
  ): CallContext {
    return super.serializationContextFor(...args) ?? ownContext();
  }

  override complete(taskToken: unknown, result: unknown): Promise<void> {
    return super.complete(taskToken as Uint8Array, labelled(labelIn(activityInfo(), 'result'), result));
  }

  override heartbeat(taskToken: unknown, details: unknown): Promise<void> {
    return super.heartbeat(taskToken as Uint8Array, labelled(labelIn(activityInfo(), 'heartbeat'), details));
  }
}

function ownContext(): CallContext {
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
