// Writes the labels of the payloads in a workflow's commands, and reads those of what comes in.

import type { Payload } from '@temporalio/common';
import type { ConcludeActivationInput } from '@temporalio/workflow';
import {
  activityLabel,
  continuedLabel,
  LABEL,
  memoLabel,
  signalLabel,
  workflowLabel,
  type ActivityCall,
} from '../src/batch/payloads/labels.ts';

type Command = ConcludeActivationInput['commands'][number];
export type Failure = NonNullable<NonNullable<Command['failWorkflowExecution']>['failure']>;
type Fields = Readonly<Record<string, Payload>> | null | undefined;

type Own = Pick<ActivityCall, 'workflowType' | 'runId'> & {
  /** Whether its continued input names the run that wrote it. */
  readonly namesRun: boolean;
  /** The activities that have no result yet. */
  readonly calls: Map<number, Pick<ActivityCall, 'activityType' | 'activityId'>>;
};

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

export function metadataText(payload: Payload | null | undefined, name: string): string | undefined {
  const value = payload?.metadata?.[name];
  return value == null ? undefined : decoder.decode(value);
}

function write(payloads: readonly (Payload | null | undefined)[] | null | undefined, label: string): void {
  for (const payload of payloads ?? [])
    if (payload) payload.metadata = { ...payload.metadata, [LABEL]: encoder.encode(label) };
}

function writeFields(fields: Fields): void {
  for (const [field, payload] of Object.entries(fields ?? {})) write([payload], memoLabel(field));
}

/** Payloads of other commands, such as summaries, are read by nothing but Temporal's web UI. */
export function labelCommand(command: Command, { calls, namesRun, ...own }: Own): void {
  const { scheduleActivity, startChildWorkflowExecution: child } = command;
  const { signalExternalWorkflowExecution: signal, continueAsNewWorkflowExecution: next } = command;
  if (scheduleActivity) {
    const { seq, activityType, activityId, arguments: args } = scheduleActivity;
    const call = { activityType: activityType ?? '', activityId: activityId ?? '' };
    calls.set(seq ?? 0, call);
    write(args, activityLabel({ ...call, ...own }, 'input'));
  }
  if (child) {
    write(child.input, workflowLabel(child.workflowType ?? '', 'input'));
    writeFields(child.memo);
  }
  if (signal) write(signal.args, signalLabel(signal.signalName ?? ''));
  if (next) {
    const type = next.workflowType || own.workflowType;
    write(next.arguments, namesRun ? continuedLabel(type, own.runId) : workflowLabel(type, 'input'));
    writeFields(next.memo);
  }
  write([command.completeWorkflowExecution?.result], workflowLabel(own.workflowType, 'result'));
  writeFields(command.modifyWorkflowProperties?.upsertedMemo?.fields);
  for (let one = command.failWorkflowExecution?.failure; one; one = one.cause)
    write(payloadsIn(one).thrown, workflowLabel(own.workflowType, 'failure'));
}

/** The payloads of a failure without those of its cause. */
export function payloadsIn(failure: Failure): {
  readonly thrown: readonly Payload[];
  readonly heartbeats: readonly Payload[];
} {
  const { encodedAttributes, applicationFailureInfo, canceledFailureInfo, timeoutFailureInfo } = failure;
  const details = [applicationFailureInfo, canceledFailureInfo].flatMap(
    (info) => info?.details?.payloads ?? [],
  );
  return {
    thrown: encodedAttributes ? [encodedAttributes, ...details] : details,
    heartbeats: timeoutFailureInfo?.lastHeartbeatDetails?.payloads ?? [],
  };
}
