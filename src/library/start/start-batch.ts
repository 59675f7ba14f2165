// Creates and starts the batch of a sheet, or attaches to the batch with the same rows.

import type { BatchRequest } from '../../batches/batch-request.ts';
import type { CreatedBatch } from '../../batches/make-batch.ts';
import {
  propose,
  type ProposalContext,
  type Proposal,
  type ProposalSource as Rows,
} from '../../batches/propose.ts';
import { sumOf, type Question, type Wording } from '../../batches/questions.ts';
import { differences } from '../../batches/reuse/reuse.ts';
import { settle, type Policy } from '../../batches/settle.ts';
import { isRunsheetError, problem, type RunsheetError } from '../../errors/error.ts';
import type { LimitChange } from '../../options/limits.ts';
import { serviceOf } from '../connect-options.ts';
import { refuseForeign } from './foreign-batch.ts';
import { refOf, type FoundBatch } from '../handle/found-batch.ts';
import { sourceFrom, type Source, limitsFrom, requestFrom, type BatchOptions } from './program-rows.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { AlreadyDoneError, inputRefused } from '../thrown-errors.ts';

/** Resolves once batch.json is written and the workflow runs. */
export async function startBatch(
  servers: Servers,
  source: Source,
  options: BatchOptions,
): Promise<FoundBatch> {
  const limits = limitsFrom(options);
  const batchFolder = await proposed(servers, source, options, (request, rows) =>
    makeOrFind(servers, request, rows),
  );
  const summary = await summaryOfDone(batchFolder);
  if (batchFolder.laidOut === undefined) {
    const { settings } = requestFrom(options, serviceOf(servers.config, servers.options.service));
    const ignored = ignoredText(batchFolder, settings);
    if (ignored !== undefined) servers.options.onNotice?.(ignored);
  }
  if (summary !== undefined) {
    if (options.reuse !== 'reuse') throw doneBefore(batchFolder.batch, summary.rows);
    return batchFolder;
  }
  const { refused } = await begin(servers, batchFolder, limits);
  if (refused?.code === 'E517') throw refused;
  return batchFolder;
}

/** Builds the request and the rows. Rethrows an error of the program's own iterable unchanged. */
export async function proposed<T>(
  { config, options: { service } }: Servers,
  source: Source,
  options: BatchOptions,
  use: (request: BatchRequest, rows: Rows) => Promise<T>,
): Promise<T> {
  const request = requestFrom(options, serviceOf(config, service));
  const rows = await sourceFrom(config, source, options);
  try {
    return await use(request, rows.source);
  } catch (error) {
    const failure = rows.failure();
    throw failure === undefined ? inputRefused(error) : failure.error;
  }
}

export type Callbacks = Pick<ProposalContext, 'onFrom' | 'onUpload' | 'listsErrors'>;

/** Creates or finds the batch; or names the batch to which its user adds the rows instead. */
export async function makeBatch(
  servers: Servers,
  request: BatchRequest,
  rows: Rows,
  {
    show,
    ...policy
  }: Omit<Policy, 'show'> & { readonly show?: (proposal: Proposal) => Promise<void> } & Callbacks,
): Promise<CreatedBatch | { readonly into: string }> {
  const { onFrom, onUpload, ...door } = policy;
  const callbacks = { ...(onFrom && { onFrom }), ...(onUpload && { onUpload }) };
  await using proposal = await propose(request, rows, { ...servers.around(request.service), ...callbacks });
  // Awaited here, because returning disposes of the proposal.
  return await settle(proposal, { ...door, ...(show && { show: () => show(proposal) }) });
}

const asCall: Wording = ({ option, with: patch }) =>
  'into' in patch
    ? option
    : option.startsWith('store:')
      ? `connect({ …, ${option} })`
      : `start(sheet, { …, ${option} })`;

async function makeOrFind(servers: Servers, request: BatchRequest, rows: Rows): Promise<CreatedBatch> {
  const refused = (composed: RunsheetError, [question]: readonly Question[]): Error => {
    if (question?.id !== 'earlier') return composed;
    const earlier = [...question.done, ...question.unknown].toSorted((a, b) => b.rows - a.rows);
    const facts = { batchId: earlier[0]?.batch ?? '', rows: sumOf(question.done) };
    return new AlreadyDoneError(composed, facts);
  };
  return (await makeBatch(servers, request, rows, { wording: asCall, refused })) as CreatedBatch;
}

/** Describes the settings that an existing batch ignores, because it keeps its own. */
export function ignoredText(batchFolder: FoundBatch, settings: BatchRequest['settings']): string | undefined {
  const ignored = differences(batchFolder, settings);
  return ignored.length === 0
    ? undefined
    : `The batch keeps its own settings; ignored: ${ignored.join(', ')}`;
}

const doneBefore = (batch: string, rows: number): AlreadyDoneError =>
  new AlreadyDoneError(
    problem('E538', {
      batch,
      rows,
      reuse: `getHandle('${batch}'), or start(sheet, { …, reuse: 'reuse' })`,
      again: "start(sheet, { …, reuse: 'again' })",
    }),
    { batchId: batch, rows },
  );

export type Changed = { readonly note?: string | undefined; readonly refused?: RunsheetError };

type Begun = Changed & {
  readonly session: Session;
  readonly isAttached: boolean;
};

/** Starts the batch or attaches to it; an existing batch takes the limits. */
export async function begin(
  servers: Servers,
  batchFolder: CreatedBatch,
  limits: LimitChange,
): Promise<Begun> {
  await servers.refuseElsewhere(batchFolder);
  const session = await servers.for(batchFolder);
  const isNew = batchFolder.laidOut !== undefined;
  // An existing batch may move to a pool that no proposal has checked.
  if (!isNew) await servers.check(limits, undefined, session);
  const how = await startOrAttach(session, batchFolder, {
    ...(!isNew && { refuseStart: () => refuseForeign(servers.config, batchFolder) }),
  });
  // A batch that was created but never started also keeps its settings.
  const isAttached = how === 'attached' || !isNew;
  return { session, isAttached, ...(isAttached ? await changeLimits(session, batchFolder, limits) : {}) };
}

const CONTROL_FAILURES = ['E512', 'E513', 'E517', 'E518'] as const;

/** The batch may end meanwhile, have no worker, or refuse the limits; none of these prevents following it. */
export async function changeLimits(
  { batches, pools }: Session,
  batchFolder: FoundBatch,
  limits: LimitChange,
): Promise<Changed> {
  if (Object.keys(limits).length === 0) return {};
  const { pool } = limits;
  if (pool !== undefined && pool !== 'none') await pools.show(pool);
  try {
    return { note: (await batches.scale(refOf(batchFolder), limits)).note };
  } catch (error) {
    if (!CONTROL_FAILURES.some((code) => isRunsheetError(error, code))) throw error;
    return { refused: error as RunsheetError };
  }
}
