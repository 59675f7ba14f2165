// Loads a batch for its workflow: its parameters, and the capabilities of the service.

import { definedOnly } from '../src/options/defined-only.ts';
import { jsonIn } from '../src/errors/outside-text.ts';
import { activityInfo } from '@temporalio/activity';
import type { BatchRef, Execution } from '../src/batch/workflow-ids.ts';
import { OLDEST, READS } from '../src/batch/behaviour-version.ts';
import type { BatchParams } from '../src/batch/params.ts';
import { continueFrom, type Snapshot } from '../src/batch/state/snapshot.ts';
import { problem, RunsheetError } from '../src/errors/error.ts';
import { beginLivingPage } from '../src/results/page/living-page.ts';
import { endBefore, summarizedPass } from '../src/results/summary.ts';
import { paramsOf } from '../src/store/batch-file.ts';
import { continueEnd } from '../src/store/continue-end.ts';
import { createStarted, isSameRun, readStarted } from '../src/store/started.ts';
import { createContinued, FIRST_PASS, type PassFile, readPass, snapshotName } from '../src/store/passes.ts';
import { commandThere, holderText, isSameServers } from '../src/store/holder.ts';
import type { Store } from '../src/store/store.ts';
import type { Deps, OpenBatch } from './deps.ts';
import { confirmOurs, finalFailure, withStore } from './activity-failures.ts';

export type LoadedBatch = {
  readonly params: BatchParams;
  readonly closed?: Snapshot;
  readonly serviceNowMs?: number;
};

export type LoadInput = BatchRef & {
  /** The pass with which an ended batch continues. */
  readonly continues?: number;
};

export const loadBatch = (deps: Deps, ref: LoadInput): Promise<LoadedBatch> =>
  load(deps, ref).catch((error: unknown) => {
    throw permanentFailure(error);
  });

async function load(deps: Deps, { continues, ...ref }: LoadInput): Promise<LoadedBatch> {
  const open = await deps.open(ref);
  const { file, store, service } = open;
  const lists = await hasLists(open);
  const serviceNowMs = service.nowMs();
  const time = serviceNowMs === undefined ? {} : { serviceNowMs };
  // The file is written before anything is sent, so a folder without it never bought a run.
  const own = { at: new Date().toISOString(), ...time, workflow: executionOf(), holder: deps.holder };
  const end = continues === undefined ? undefined : await endedState(open, continues);
  if (end !== undefined) await continueAs(deps, open, end.through, own);
  else if (!(await createStarted(store, own))) await assertSameExecution(deps, open, own.workflow);
  const webhooks = file.webhooks && deps.webhooks.receiver(file) !== undefined;
  if (end === undefined) await beginLivingPage(open, Date.parse((await readStarted(store))?.at ?? own.at));
  const params = paramsOf(file, { webhooks, lists, pass: FIRST_PASS });
  if (end === undefined) return { params, ...time };
  // The capabilities of workers and services may have changed since.
  const now = { ...end.closed.params, webhooks, lists };
  return { params, closed: { ...end.closed, params: now }, ...time };
}

type EndedState = { readonly through: number; readonly closed: Snapshot };

/**
 * The state at the end of the batch, which a pass continues. Fails for good with E504 if it is missing or damaged,
 * and with E514 if it is too old: waiting does not help. If the store shows no summary either, the disk may be away,
 * so Temporal retries.
 */
async function endedState({ file: { batch }, store }: OpenBatch, continues: number): Promise<EndedState> {
  const through = await summarizedPass(store);
  // A run that was slower than its own pass: the next pass continues from this end, and its mark would refuse the
  // run.
  if (through !== undefined && through >= continues) throw problem('E515', { batch, folder: store.location });
  const text = through === undefined ? undefined : await store.read(snapshotName(through));
  const closed = text === undefined ? undefined : readable(text);
  if (closed !== undefined && closed.version < OLDEST)
    throw finalFailure(problem('E514', { folder: store.location }));
  if (through !== undefined && closed !== undefined) return { through, closed };
  const name = through === undefined ? 'a summary' : snapshotName(through);
  const failure = problem('E504', {
    what: `${store.location} has no readable state to continue from (${name})`,
  });
  throw (await summarizedPass(store)) === undefined ? failure : finalFailure(failure);
}

/** undefined if the workflow could not continue from the state. */
function readable(text: string): Snapshot | undefined {
  const closed = jsonIn(text) as Snapshot | undefined;
  try {
    if (closed === undefined) return undefined;
    // A newer or older worker may know more than this one.
    if (!(closed.version > READS || closed.version < OLDEST)) continueFrom(closed, FIRST_PASS, Date.now());
    return closed;
  } catch {
    return undefined;
  }
}

async function continueAs(
  deps: Deps,
  { file: { batch }, store }: OpenBatch,
  ended: number,
  { workflow, holder }: Parameters<typeof continueEnd>[2],
): Promise<void> {
  const isOurs = await continueEnd(store, ended, { workflow, holder }, () => confirmOurs(deps));
  if (!isOurs) throw problem('E515', { batch, folder: store.location });
}

function executionOf(): Execution {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  return { workflowId, runId };
}

/** A second start of the same batch would buy every row a second time. */
async function assertSameExecution(
  { holder: here }: Pick<Deps, 'holder'>,
  { file: { batch }, store }: OpenBatch,
  own: Execution,
): Promise<void> {
  const before = await readStarted(store);
  if (before !== undefined && isSameRun(before.workflow, own)) return;
  const place = { batch, folder: store.location };
  const holder = before?.rebuilding?.holder ?? before?.holder;
  if (holder === undefined || isSameServers(holder, here)) throw problem('E515', place);
  throw problem('E515', {
    ...place,
    holder: holderText(holder),
    there: commandThere(holder, 'status', place),
  });
}

const PERMANENT: ReadonlySet<string> = new Set(['E411', 'E515']);

/** Makes permanent errors non-retryable; nothing has been sent at this point. */
function permanentFailure(error: unknown): unknown {
  return error instanceof RunsheetError && PERMANENT.has(error.code) ? finalFailure(error) : error;
}

/** Tries a list call, because the published API does not include run lists. */
async function hasLists({ file, service }: OpenBatch): Promise<boolean> {
  const { workflowId } = file.deployment;
  return (
    workflowId !== undefined && (await service.listRuns(workflowId, { limit: 1, offset: 0 })) !== undefined
  );
}

type LoadedPass = Pick<PassFile, 'segments' | 'by' | 'reason'> & { readonly appended?: number };

type PassInput = BatchRef & {
  readonly pass: number;
  /** The batch pauses if the store fails. A batch of version 3 would fail, so Temporal retries its activity. */
  readonly mayPause?: true;
};

/** A pass that cannot be read pauses the batch; nothing else would name the reason. */
export const loadPass = (deps: Deps, input: PassInput): Promise<LoadedPass> =>
  input.mayPause ? withStore(() => readWanted(deps, input)) : readWanted(deps, input);

async function readWanted(deps: Deps, { pass, ...ref }: PassInput): Promise<LoadedPass> {
  const { store } = await deps.open(ref);
  await markContinued(store, pass);
  const { segments, by, reason, appended } = await readPass(store, pass);
  return definedOnly({ segments, by, reason, appended: appended?.rows });
}

/** A batch that continues after its results were written must not be continued from them by another workflow run. */
async function markContinued(store: Store, pass: number): Promise<void> {
  const ended = await endBefore(store, pass);
  if (ended !== undefined) await createContinued(store, ended, executionOf());
}
