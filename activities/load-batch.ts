// Loads a batch for its workflow: its parameters, and the capabilities of the service.

import { definedOnly } from '../src/options/defined-only.ts';
import { jsonIn } from '../src/errors/outside-text.ts';
import { activityInfo } from '@temporalio/activity';
import type { BatchRef, Execution } from '../src/batch/workflow-ids.ts';
import { type BatchParams, OLDEST, READS } from '../src/batch/params.ts';
import { continueFrom, type Snapshot } from '../src/batch/state/snapshot.ts';
import { problem, RunsheetError } from '../src/errors/error.ts';
import { beginLivingPage } from '../src/results/page/living-page.ts';
import { summarizedPass } from '../src/results/summary.ts';
import { paramsOf } from '../src/store/batch-file.ts';
import { createStarted, isSameRun, readStarted, replaceStarted } from '../src/store/started.ts';
import {
  createContinued,
  FIRST_PASS,
  type PassFile,
  readContinued,
  readPass,
  snapshotName,
} from '../src/store/passes.ts';
import { commandThere, holderText, isSameServers, type Holder } from '../src/store/holder.ts';
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
  const closed = continues === undefined ? undefined : await closedState(store);
  if (closed !== undefined) await continueAs(deps, open, own);
  else if (!(await createStarted(store, own))) await assertSameExecution(deps, open, own.workflow);
  const webhooks = file.webhooks && deps.webhooks.receiver(file) !== undefined;
  if (closed === undefined) await beginLivingPage(open, Date.parse((await readStarted(store))?.at ?? own.at));
  const params = paramsOf(file, { webhooks, lists, pass: FIRST_PASS });
  if (closed === undefined) return { params, ...time };
  // What workers and services can do may have changed since.
  const now = { ...closed.params, webhooks, lists };
  return { params, closed: { ...closed, params: now }, ...time };
}

/**
 * The state at the end of the latest pass. Fails for good with E504 if it is missing or damaged, and with E514 if it is too old:
 * no wait mends it. A store that does not show the summary either may be a disk that is away, and is tried again.
 */
async function closedState(store: Store): Promise<Snapshot> {
  const through = await summarizedPass(store);
  const text = through === undefined ? undefined : await store.read(snapshotName(through));
  const closed = text === undefined ? undefined : readable(text);
  if (closed !== undefined && closed.version < OLDEST)
    throw finalFailure(problem('E514', { folder: store.location }));
  if (closed !== undefined) return closed;
  const name = through === undefined ? 'a summary' : snapshotName(through);
  const failure = problem('E504', {
    what: `${store.location} has no readable state to continue from (${name})`,
  });
  throw (await summarizedPass(store)) === undefined ? failure : finalFailure(failure);
}

/** undefined if the workflow could not continue from it. */
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

/** An end is continued at most once, whatever the pass: a second workflow run would buy the rows of its passes a second time. */
async function continueAs(
  deps: Deps,
  { file: { batch }, store }: OpenBatch,
  { workflow, holder }: { readonly workflow: Execution; readonly holder: Holder },
): Promise<void> {
  const pass = (await summarizedPass(store)) ?? FIRST_PASS;
  const isNew = await createContinued(store, pass, workflow);
  const before = isNew ? workflow : await readContinued(store, pass);
  if (before === undefined || !isSameRun(before, workflow))
    throw problem('E515', { batch, folder: store.location });
  await replaceStarted(store, async () => {
    await confirmOurs(deps);
    return { workflow, holder };
  });
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

type Input = BatchRef & {
  readonly pass: number;
  /** The batch pauses if the store fails. A batch of version 3 would fail, so Temporal retries its activity. */
  readonly mayPause?: true;
};

/** A pass that cannot be read pauses the batch; nothing else would name the reason. */
export const loadPass = (deps: Deps, input: Input): Promise<LoadedPass> =>
  input.mayPause ? withStore(() => readWanted(deps, input)) : readWanted(deps, input);

async function readWanted(deps: Deps, { pass, ...ref }: Input): Promise<LoadedPass> {
  const { store } = await deps.open(ref);
  await markContinued(store);
  const { segments, by, reason, appended } = await readPass(store, pass);
  return definedOnly({ segments, by, reason, appended: appended?.rows });
}

/** A batch that goes on although it has written its results must not be continued from them by another workflow run. */
async function markContinued(store: Store): Promise<void> {
  const ended = await summarizedPass(store);
  if (ended !== undefined) await createContinued(store, ended, executionOf());
}
