// Makes a batch from a sheet for a workflow. Temporal may retry the activity: a retry finds the batch of the first
// try by the id of the call, so there is never a second one.

import { definedOnly } from '../src/options/defined-only.ts';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import { shownBatch } from '../src/batch/shown/shown-batch.ts';
import { WRITES } from '../src/batch/behaviour-version.ts';
import { createOnce, type BatchCall } from '../src/batches/create-once.ts';
import { givenFrom, refuseBoth, wishOf } from '../src/batches/given-options.ts';
import { codedMessage, errorMessage, EXIT, RunsheetError } from '../src/errors/error.ts';
import { shortened, terminalLines } from '../src/errors/outside-text.ts';
import { shownAddress, withoutSecrets } from '../src/errors/redact.ts';
import { aboutJob } from '../src/schedule/job-keys.ts';
import { readSummary } from '../src/results/summary.ts';
import type { Deps } from './deps.ts';

export type NewBatch = BatchRef & {
  readonly version: number;
  readonly rows: number;
  readonly reused: number;
  /** Whether the batch has ended: an earlier call with the same id has run it. */
  readonly hasEnded: boolean;
  /** Whether its workflow encrypts its failures. */
  readonly encrypted: boolean;
  /** The texts that Temporal's UI shows of the batch. */
  readonly summary: string;
  readonly details: string;
  readonly searchAttributes: readonly SearchAttributePair[];
};

/** A call in the form in which a workflow writes it. */
export type WrittenCall = Pick<BatchCall, 'sheet' | 'callId' | 'findOnly'> & {
  /** The options as JSON has carried them. */
  readonly options: object;
};

export const createBatch = (
  deps: Pick<Deps, 'log' | 'maker'>,
  call: WrittenCall,
): Promise<NewBatch | undefined> => createFrom(deps, call.sheet, () => callOf(call));

function callOf({ options, ...call }: WrittenCall): BatchCall {
  const callOptions = givenFrom('workflow', options);
  refuseBoth(callOptions);
  const { format, reuse } = callOptions;
  return { ...call, ...definedOnly({ format, reuse }), request: wishOf(callOptions) };
}

/** Creates the batch. An error that `read` throws fails the activity too. `job`: the job file that requests the batch. */
export async function createFrom(
  { maker, log }: Pick<Deps, 'log' | 'maker'>,
  sheet: string,
  read: () => BatchCall,
  job?: string,
): Promise<NewBatch | undefined> {
  try {
    const created = await createOnce({ ...maker, signal: cancellationSignal() }, read());
    if (created === undefined) return undefined;
    const { batch, folder, file, store } = created;
    const { rows, reused = 0 } = file.sheet;
    const hasEnded = (await readSummary(store)) !== undefined;
    const { isEncrypted: encrypted } = maker;
    const { search, ...shown } = shownBatch(file);
    const ref = { batch, mark: file.mark, folder };
    const searchAttributes = await maker.searchAttributes(search);
    return { ...ref, version: WRITES, rows, reused, hasEnded, encrypted, ...shown, searchAttributes };
  } catch (error) {
    const { workflowExecution: caller } = activityInfo();
    log.warn({ sheet: shownAddress(sheet), caller, error: errorMessage(error) }, 'no batch was made');
    throw error instanceof RunsheetError ? failureOf(error, job) : error;
  }
}

/**
 * Errors that pass: a sheet that was being written may be whole at the next try, and a batch whose rows are sent
 * again ends.
 */
const PASSING: ReadonlySet<string> = new Set(['E107', 'E551']);

/** Retries an outage; an error that only a user can correct fails the activity. */
function failureOf(error: RunsheetError, job: string | undefined): ApplicationFailure {
  const isTemporary = error.exit === EXIT.unreachable || PASSING.has(error.code);
  const inJob = (problem: RunsheetError) => (job === undefined ? problem : aboutJob(problem, job));
  const [first, problems] = [inJob(error), problemsOf(error).map(inJob)];
  return ApplicationFailure.create({
    message: withoutSecrets([textOf(first), ...problems.map(textOf)].join('\n')),
    type: error.code,
    nonRetryable: !isTemporary,
    details: [{ ...detailOf(first), ...(problems.length > 0 && { problems: problems.map(detailOf) }) }],
  });
}

type ErrorFacts = Pick<RunsheetError, 'code' | 'message' | 'hint' | 'place'>;

const detailOf = ({ code, message, hint, place }: ErrorFacts) => definedOnly({ code, message, hint, place });

const problemsOf = (error: RunsheetError): readonly RunsheetError[] =>
  'problems' in error ? (error.problems as readonly RunsheetError[]) : [];

/** Long enough for the lines that a job lacks. */
const MAX_TEXT = 1_000;

function textOf(error: ErrorFacts): string {
  const { place } = error;
  const at = place?.line === undefined ? '' : `${place.file}:${place.line}:${place.column ?? 1} `;
  return shortened(terminalLines(`${at}${codedMessage(error)}`), MAX_TEXT);
}
