// Starts, finds and follows the workflows of batches.

import { setTimeout as wait } from 'node:timers/promises';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type Client,
  type WorkflowExecutionInfo,
  type WorkflowExecutionStatusName,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { runsheetBatch } from '../../workflows/batch-workflow.ts';
import type { ShownBatch } from '../batch/shown/shown-batch.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { WORKFLOW_TASK_MS } from '../batch/bounds.ts';
import type { Snapshot } from '../batch/state/snapshot.ts';
import { WRITES } from '../batch/behaviour-version.ts';
import { errorTable } from '../errors/codes.ts';
import { problem, errorMessage, RunsheetError, type Code } from '../errors/error.ts';
import { openControl } from './batch-control.ts';
import { isRefusedAs, rootOf, undefinedIfGone } from './client-errors.ts';
import { startSearchable } from './search-attributes.ts';
import {
  batchNameOf,
  workflowIdOf,
  type BatchName,
  type BatchRef,
  type Execution,
} from '../batch/workflow-ids.ts';

const AGAIN_MS = 500;
const { WORKFLOW_EXECUTION_STATUS_RUNNING } = proto.temporal.api.enums.v1.WorkflowExecutionStatus;

/** `running` and `closed`: the workflow existed before. */
export type StartResult = 'started' | 'running' | 'closed';

export type ListedBatch = BatchRef & {
  readonly status: WorkflowExecutionStatusName;
  /** The first workflow run of the execution, by which started.json names it. */
  readonly firstRun: Execution;
  /** Whether the batch has read its folder, which it does before anything else. */
  readonly hasLoaded: boolean;
  readonly startedAt: Date;
  readonly closedAt: Date | undefined;
};

export type BatchClient = ReturnType<typeof openBatchClient>;

/** The state from which a workflow run continues: a rebuilt one, or that of an ended batch with this pass. */
export type Continuation = { readonly snapshot: Snapshot } | { readonly continues: number };

const startOptions = (ref: BatchRef, continuation?: Continuation, shown?: ShownBatch) =>
  ({
    workflowId: workflowIdOf(ref),
    // A continuation contains everything that earlier workflow runs bought, so it may reuse the id.
    workflowIdReusePolicy: continuation === undefined ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    workflowTaskTimeout: WORKFLOW_TASK_MS,
    // Activities inherit the key: on a fair server, activities of a large batch do not hold up those of a small one.
    priority: { fairnessKey: ref.mark },
    args: [{ ...ref, version: WRITES, ...continuation }],
    staticSummary: shown?.summary ?? ref.batch,
    ...(shown === undefined ? {} : { staticDetails: shown.details }),
  }) satisfies Partial<WorkflowStartOptions<typeof runsheetBatch>>;

/** `encrypted`: the client encrypts, and so do the workflows that it starts. `searchable`: it does not encrypt. */
type ClientTraits = { readonly encrypted: boolean; readonly searchable: boolean };

async function listed(client: Client, condition = ''): Promise<readonly ListedBatch[]> {
  const batches: ListedBatch[] = [];
  for await (const execution of client.workflow.list({
    query: `WorkflowType = 'runsheetBatch'${condition}`,
  })) {
    const batch = known(execution);
    if (batch !== undefined) batches.push(batch);
  }
  return batches;
}

/** A namespace that does not know the attribute refuses the query, and has no batch with it. */
function ofNoAttribute(error: unknown): readonly ListedBatch[] {
  if (isRefusedAs(rootOf(error), '3 INVALID_ARGUMENT')) return [];
  throw error;
}

/** The condition that the name of a batch has this beginning. */
const beginsWith = (name: string): string =>
  ` AND WorkflowId STARTS_WITH '${workflowIdOf({ batch: name, mark: '' }).replace(/~$/, '').replaceAll("'", "''")}'`;

/** `reach` returns the current client, because an embedded server may restart on another port. */
export function openBatchClient(
  reach: () => Client,
  taskQueue: string = TASK_QUEUE,
  { encrypted, searchable }: ClientTraits = { encrypted: false, searchable: false },
) {
  const handleOf = (name: BatchName) => reach().workflow.getHandle<typeof runsheetBatch>(workflowIdOf(name));

  const find = (name: BatchName): Promise<ListedBatch | undefined> =>
    handleOf(name).describe().then(known, undefinedIfGone);

  return {
    /** Starts the batch unless Temporal already knows it; a birth mark is never reused. */
    start: async (ref: BatchRef, continuation?: Continuation, shown?: ShownBatch): Promise<StartResult> => {
      try {
        await startSearchable(reach(), searchable ? shown?.search : undefined, {
          ...startOptions(ref, continuation, shown),
          taskQueue,
          // The receiver of any worker reads the batch's folder from the memo.
          memo: { folder: ref.folder, ...(encrypted ? { encrypted } : {}) },
        });
        return 'started';
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        return (await find(ref))?.status === 'RUNNING' ? 'running' : 'closed';
      }
    },

    /** Terminates a workflow that cannot continue; the caller rebuilds its batch. */
    terminate: (name: BatchName) => handleOf(name).terminate('rebuilt from its parts and the run lists'),

    /** undefined if Temporal does not know the batch, or has forgotten it. */
    find,

    isRunning: (name: BatchName) => isRunning(reach(), name),
    firstRun: (name: BatchName) => firstRun(reach(), name),

    /** The batches that Temporal knows, newest first. */
    list: () => listed(reach()),

    /** The batches whose names have this beginning. */
    named: (name: string) => listed(reach(), beginsWith(name)),

    /** The batches that have not ended. */
    running: () => listed(reach(), " AND ExecutionStatus = 'Running'"),

    /** The batches with these rows, as far as the namespace is searchable. */
    withContent: async (content: string): Promise<readonly ListedBatch[]> =>
      searchable ? listed(reach(), ` AND RunsheetContent = '${content}'`).catch(ofNoAttribute) : [],

    /** Resolves when the batch has ended, even if Temporal is unreachable meanwhile. Throws E506 if it failed. */
    finished: (name: BatchName, gone: AbortSignal): Promise<void> => untilFinished(reach, name, gone),

    ...openControl(reach),
  };
}

/** Decrypts nothing, because another user may have started a workflow with the batch's id. */
async function isRunning({ workflowService, options }: Client, name: BatchName): Promise<boolean> {
  try {
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace: options.namespace,
      execution: { workflowId: workflowIdOf(name) },
    });
    return workflowExecutionInfo?.status === WORKFLOW_EXECUTION_STATUS_RUNNING;
  } catch (error) {
    if (isRefusedAs(error, '5 NOT_FOUND')) return false;
    throw error;
  }
}

/** The first run of the latest execution chain of the batch's workflow. */
async function firstRun(client: Client, name: BatchName): Promise<Execution> {
  const { raw, workflowId } = await client.workflow.getHandle(workflowIdOf(name)).describe();
  return { workflowId, runId: raw.workflowExecutionInfo?.firstRunId ?? '' };
}

async function untilFinished(reach: () => Client, name: BatchName, gone: AbortSignal): Promise<void> {
  while (!gone.aborted) {
    try {
      const client = reach();
      await client.withAbortSignal(gone, () => client.workflow.getHandle(workflowIdOf(name)).result());
      return;
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw endedByFailure(name, error);
      await wait(AGAIN_MS, undefined, { signal: gone }).catch(() => undefined);
    }
  }
  // The caller has stopped waiting, so this must never settle a race.
  await new Promise(() => undefined);
}

/** The error of the worker that ended the batch, if it has a code; otherwise E506. */
function endedByFailure({ batch }: BatchName, error: WorkflowFailedError): RunsheetError {
  const root = rootOf(error);
  const code = root instanceof ApplicationFailure ? (root.type as Code) : undefined;
  const [facts] = (root instanceof ApplicationFailure ? root.details : undefined) ?? [];
  if (code === undefined || !Object.hasOwn(errorTable, code) || typeof facts !== 'object')
    return problem('E506', { batch, reason: errorMessage(root) }, { cause: error });
  const { message, hint } = facts as { readonly message: string; readonly hint?: string };
  return new RunsheetError(code, message, { exit: errorTable[code].exit, hint, cause: error });
}

function known(
  execution: Pick<WorkflowExecutionInfo, 'workflowId' | 'status' | 'memo' | 'startTime' | 'closeTime'> & {
    /** A described execution has its raw information one level deeper. */
    readonly raw: {
      readonly firstRunId?: string | null;
      readonly workflowExecutionInfo?: { readonly firstRunId?: string | null } | null;
    };
  },
): ListedBatch | undefined {
  const { workflowId, raw } = execution;
  const name = batchNameOf(workflowId);
  if (name === undefined) return undefined;
  const folder = execution.memo?.['folder'];
  return {
    ...name,
    folder: typeof folder === 'string' ? folder : '',
    status: execution.status.name,
    firstRun: { workflowId, runId: raw.workflowExecutionInfo?.firstRunId ?? raw.firstRunId ?? '' },
    hasLoaded: execution.memo?.['progress'] !== undefined,
    startedAt: execution.startTime,
    closedAt: execution.closeTime,
  };
}
