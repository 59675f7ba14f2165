// Gives every payload that leaves a workflow its label (src/batch/payloads/labels.ts), and checks the labels of
// incoming payloads. The codec encrypts with the label, decrypts, and marks payloads that it refused; the SDK does
// not tell it the names, so this file compares them. Anyone who can reach an embedded server can copy payloads and
// send them again.
//
//   a signal that is refused             is dropped and logged
//   a result of an activity              is a failure `Refused`: the activity is scheduled again, except for `queueRuns`, whose
//                                        group is then unconfirmed
//   a group that ends without its worker is `Refused` too: with commands to Temporal alone a stranger can fail, cancel or time
//                                        out a group that was sent, so nothing but its worker says that it was not
//   the input of the workflow            fails the task: nothing starts
//
// A payload that another worker may be able to decrypt fails the task, so that the task goes there.

import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  type ActivateInput,
  ActivityFailure,
  ApplicationFailure,
  type ConcludeActivationInput,
  log,
  scheduleActivity,
  sleep,
  workflowInfo,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import {
  type ActivityCall,
  activityLabel,
  continuedLabel,
  ELSEWHERE,
  isOwnWorkflow,
  LABEL,
  memoLabel,
  OTHER,
  REFUSED,
  signalLabel,
  workflowLabel,
} from '../src/batch/payloads/labels.ts';
import { signalFault } from '../src/batch/payloads/signal-shapes.ts';

type ActivationJob = NonNullable<ActivateInput['activation']['jobs']>[number];
type ScheduledCall = { readonly activityType: string; readonly activityId: string };
type ActivityResult = NonNullable<NonNullable<ActivationJob['resolveActivity']>['result']>;
type Guard = { isSealed: boolean; isStrict: boolean };

const AGAIN_MS = 1_000;
const REFUSED_RESULT = 'Refused';
const TIMED_OUT = 'Activity task timed out';
/** The first version of batches whose signals have strict shapes. */
const STRICT_FROM = 4;

export const interceptors: WorkflowInterceptorsFactory = () => {
  const { workflowType } = workflowInfo();
  // An application's own workflows may be on the same worker.
  if (!isOwnWorkflow(workflowType)) return {};
  const calls = new Map<number, ScheduledCall>();
  const guard: Guard = { isSealed: false, isStrict: workflowType !== 'runsheetBatch' };
  const dropped = new Map<string, number>();

  const takes = (job: ActivationJob): boolean => {
    if (job.initializeWorkflow) Object.assign(guard, checkStart(job.initializeWorkflow));
    if (job.resolveActivity) checkResult(job.resolveActivity, guard, calls);
    const fault = job.signalWorkflow ? faultOf(job.signalWorkflow, guard.isStrict) : undefined;
    if (fault !== undefined) reportDropped(dropped, job.signalWorkflow?.signalName ?? '', fault);
    return fault === undefined;
  };

  return {
    internals: [
      {
        activate: (input, next) => {
          const { jobs } = input.activation;
          const taken = jobs?.filter(takes) ?? [];
          jobs?.splice(0, jobs.length, ...taken);
          next(input);
        },
        concludeActivation: (input, next) => {
          const output = next(input);
          const { runId } = workflowInfo();
          const namesRun = workflowType === 'runsheetBatch' && guard.isStrict;
          for (const command of output.commands)
            labelCommand(command, { workflowType, runId, calls, namesRun });
          return output;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => {
          const result = next(input);
          // Nothing shows whether the group was sent, so it is reconciled.
          if (!guard.isStrict || input.activityType === 'queueRuns') return result;
          return result.catch(async (error: unknown) => {
            if (!isRefused(error)) throw error;
            await sleep(AGAIN_MS);
            return scheduleActivity(input.activityType, input.args, input.options);
          });
        },
      },
    ],
  };
};

const isRefused = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof ApplicationFailure &&
  error.cause.type === REFUSED_RESULT;

/**
 * The reason why the payload is refused here; undefined if it has one of the labels, or is plain and the codec
 * allowed it.
 */
function refusal(payload: Payload | null | undefined, ...labels: readonly string[]): string | undefined {
  const reason = metadataText(payload, REFUSED);
  if (reason !== undefined && metadataText(payload, ELSEWHERE) !== undefined) throw new Error(reason);
  if (reason !== undefined) return reason;
  const label = metadataText(payload, LABEL);
  return label === undefined || labels.includes(label) ? undefined : `it is encrypted as "${label}"`;
}

/** Throws for a workflow that a stranger started with payloads copied from elsewhere. */
function checkStart(start: NonNullable<ActivationJob['initializeWorkflow']>) {
  const {
    workflowType,
    arguments: args,
    memo,
    parentWorkflowInfo,
    continuedFromExecutionRunId: from,
  } = start;
  const type = workflowType ?? '';
  const continued = from ? [continuedLabel(type, from)] : [];
  // An application's workflow that starts a batch as its child labels nothing.
  const also = parentWorkflowInfo ? [OTHER] : [];
  for (const payload of args ?? [])
    refuse(refusal(payload, workflowLabel(type, 'input'), ...continued, ...also));
  for (const [field, payload] of Object.entries(memo?.fields ?? {}))
    refuse(refusal(payload, memoLabel(field), ...also));
  const [first] = args ?? [];
  const isSealed = metadataText(first, LABEL) !== undefined;
  if (type !== 'runsheetBatch' || first == null) return { isSealed };
  const { version = 1 } = defaultPayloadConverter.fromPayload<{ readonly version?: number }>(first);
  const isStrict = version >= STRICT_FROM;
  // A stranger who answers a workflow task could continue the batch as new with a copied earlier input.
  if (isStrict && from) for (const payload of args ?? []) refuse(refusal(payload, ...continued));
  return { isSealed, isStrict };
}

function refuse(reason: string | undefined): void {
  if (reason !== undefined)
    throw new Error(`the workflow was started with a payload that is refused: ${reason}`);
}

function faultOf({ signalName, input }: NonNullable<ActivationJob['signalWorkflow']>, isStrict: boolean) {
  const name = signalName ?? '';
  const refused = (input ?? []).map((payload) => refusal(payload, signalLabel(name)));
  const reason = refused.find((fault) => fault !== undefined);
  if (reason !== undefined) return reason;
  try {
    const args = (input ?? []).map((payload) => defaultPayloadConverter.fromPayload(payload));
    return isStrict ? signalFault(workflowInfo().workflowType, name, args) : undefined;
  } catch {
    return 'its arguments cannot be parsed';
  }
}

/** A stranger may send any number of signals: the first, tenth, hundredth … of a kind is logged. */
function reportDropped(dropped: Map<string, number>, signal: string, reason: string): void {
  const [why = ''] = reason.split(/[:"]/);
  const kind = `${signal}: ${why}`;
  // A stranger chooses the names of signals that the workflow does not have.
  const counted = dropped.has(kind) || dropped.size < MAX_KINDS ? kind : 'others';
  const count = (dropped.get(counted) ?? 0) + 1;
  dropped.set(counted, count);
  if (/^10*$/.test(String(count)))
    log.warn('a signal was dropped', { signal: signal.slice(0, 100), reason, count });
}

const MAX_KINDS = 100;

/** Replaces a result that does not belong to this call. */
function checkResult(
  resolved: NonNullable<ActivationJob['resolveActivity']>,
  { isSealed, isStrict }: Guard,
  calls: Map<number, ScheduledCall>,
): void {
  const call = calls.get(resolved.seq ?? 0);
  if (call === undefined || !resolved.result) return;
  calls.delete(resolved.seq ?? 0);
  const { runId, workflowType } = workflowInfo();
  const about = { ...call, runId, workflowType };
  const { completed, failed, cancelled } = resolved.result;
  const result = completed?.result;
  const missing = isSealed && completed && !result ? 'it has no payload' : undefined;
  const reason = completed
    ? (missing ?? (result && refusal(result, activityLabel(about, 'result'))))
    : (failureFault(failed?.failure ?? cancelled?.failure, about, isSealed) ??
      (isSealed && isStrict ? endFault(resolved.result, call) : undefined));
  if (!reason) return;
  log.warn('the result of an activity was refused', { activity: call.activityType, reason });
  resolved.result = { failed: { failure: refusedFailure(call, reason) } };
}

/** The reason to doubt that the activity ended like this: only an encrypted payload shows that its worker said so. */
function endFault(
  { failed, cancelled }: ActivityResult,
  { activityType }: ScheduledCall,
): string | undefined {
  const failure = failed?.failure ?? cancelled?.failure;
  const cause = failure?.cause;
  if (!cause || !(cause.timeoutFailureInfo || cause.canceledFailureInfo)) return undefined;
  const { thrown, heartbeats } = payloadsIn(cause);
  if (thrown.length + heartbeats.length > 0) return undefined;
  if (activityType === 'queueRuns') return 'no worker has said that nothing was sent';
  // The SDK writes this message for events that only the server makes.
  return failed && failure.message !== TIMED_OUT ? 'no worker fails like this' : undefined;
}

function failureFault(
  failure: ProtoFailure | null | undefined,
  about: Parameters<typeof activityLabel>[0],
  isSealed: boolean,
): string | undefined {
  if (!failure) return undefined;
  const [own, beats] = [activityLabel(about, 'failure'), activityLabel(about, 'heartbeat')];
  const { thrown, heartbeats } = payloadsIn(failure);
  const faults = [
    ...thrown.map((payload) => refusal(payload, own)),
    ...heartbeats.map((payload) => refusal(payload, beats)),
  ];
  // Anyone could report a failure in plain text, such as that nothing was sent.
  const isForged = isSealed && failure.applicationFailureInfo && thrown.length === 0;
  const own0 = isForged
    ? 'its failure has no encrypted payload'
    : faults.find((fault) => fault !== undefined);
  return own0 ?? failureFault(failure.cause, about, isSealed);
}

const refusedFailure = ({ activityType, activityId }: ScheduledCall, reason: string): ProtoFailure => ({
  message: 'activity error',
  activityFailureInfo: { activityType: { name: activityType }, activityId },
  cause: {
    message: `the result was refused: ${reason}`,
    applicationFailureInfo: { type: REFUSED_RESULT, nonRetryable: true },
  },
});

type Command = ConcludeActivationInput['commands'][number];
type ProtoFailure = NonNullable<NonNullable<Command['failWorkflowExecution']>['failure']>;
type MemoFields = Readonly<Record<string, Payload>> | null | undefined;

type Own = Pick<ActivityCall, 'workflowType' | 'runId'> & {
  /** Whether the continued input names the run that wrote it. */
  readonly namesRun: boolean;
  /** The activities that have no result yet. */
  readonly calls: Map<number, Pick<ActivityCall, 'activityType' | 'activityId'>>;
};

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

function metadataText(payload: Payload | null | undefined, name: string): string | undefined {
  const value = payload?.metadata?.[name];
  return value == null ? undefined : decoder.decode(value);
}

function write(payloads: readonly (Payload | null | undefined)[] | null | undefined, label: string): void {
  for (const payload of payloads ?? [])
    if (payload) payload.metadata = { ...payload.metadata, [LABEL]: encoder.encode(label) };
}

function writeFields(fields: MemoFields): void {
  for (const [field, payload] of Object.entries(fields ?? {})) write([payload], memoLabel(field));
}

/**
 * Writes the labels of the payloads in a command of the workflow. Only Temporal's web UI reads payloads of other
 * commands, such as summaries.
 */
function labelCommand(command: Command, { calls, namesRun, ...own }: Own): void {
  const { scheduleActivity: activity, startChildWorkflowExecution: child } = command;
  const { signalExternalWorkflowExecution: signal, continueAsNewWorkflowExecution: next } = command;
  if (activity) {
    const { seq, activityType, activityId, arguments: args } = activity;
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
  for (let cause = command.failWorkflowExecution?.failure; cause; cause = cause.cause)
    write(payloadsIn(cause).thrown, workflowLabel(own.workflowType, 'failure'));
}

/** The payloads of a failure without those of its cause. */
function payloadsIn(failure: ProtoFailure): {
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
