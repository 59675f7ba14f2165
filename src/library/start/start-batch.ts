// Makes a batch of a sheet and starts it, or attaches to the one that has the same rows.

import { checkSettings } from '../../create-batch/check-settings.ts';
import type { CreatedBatch } from '../../create-batch/create-batch.ts';
import { propose, type Around, type Proposal } from '../../create-batch/propose.ts';
import { QuestionsOpen, refusal, sumOf, type Question, type Words } from '../../create-batch/questions.ts';
import { differences } from '../../create-batch/reuse/reuse.ts';
import { isRunsheetError, problem } from '../../errors/error.ts';
import type { LimitChange } from '../../options/limits.ts';
import { limitsFrom, requestFrom, type BatchOptions } from './batch-options.ts';
import { serviceOf } from '../connect-options.ts';
import { refOf, type FoundBatch } from '../handle/found-batch.ts';
import { sourceFrom, type Source } from './given-source.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { AlreadyDoneError, inputRefused } from '../thrown-errors.ts';

/** Resolves when batch.json is written and the workflow runs. */
export async function startBatch(
  servers: Servers,
  source: Source,
  options: BatchOptions,
): Promise<FoundBatch> {
  const limits = limitsFrom(options);
  const found = await proposed(servers, source, options, false, carriedOut);
  const summary = await summaryOfDone(found);
  if (found.laidOut === undefined) sayIgnored(servers, found, options);
  if (summary !== undefined) {
    if (options.reuse !== 'reuse') throw doneBefore(found.batch, summary.rows);
    return found;
  }
  const session = await servers.for(found);
  // A batch that exists may be moved to a pool, which no proposal has looked for.
  if (found.laidOut === undefined)
    await checkSettings(limits, { ...aroundOf(servers), pools: async () => session.pools });
  const how = await startOrAttach(session, found);
  if (how === 'attached' || found.laidOut === undefined) await changeLimits(session, found, limits);
  return found;
}

export const aroundOf = (servers: Servers): Around => ({
  config: servers.config,
  isCluster: () => servers.isCluster,
  servers: () => servers.open(servers.options.service === 'local'),
});

/** Passes on what would be made, and disposes of it. An error of the program's own iterable is thrown as it is. */
export async function proposed<T>(
  servers: Servers,
  source: Source,
  options: BatchOptions,
  isPlan: boolean,
  use: (proposal: Proposal) => Promise<T>,
): Promise<T> {
  const request = requestFrom(options, serviceOf(servers.config, servers.options.service));
  const given = await sourceFrom(servers.config, source, options);
  try {
    await using proposal = await propose(request, given.source, { ...aroundOf(servers), isPlan });
    // Awaited here, because the proposal is disposed of on return.
    return await use(proposal);
  } catch (error) {
    const failure = given.failure();
    throw failure === undefined ? inputRefused(error) : failure.error;
  }
}

const asCall: Words = ({ option, with: patch }) =>
  'into' in patch
    ? option
    : option.startsWith('store:')
      ? `connect({ …, ${option} })`
      : `start(sheet, { …, ${option} })`;

/** Throws the error of the first open question. */
async function carriedOut(proposal: Proposal): Promise<CreatedBatch> {
  try {
    return await proposal.carryOut();
  } catch (error) {
    throw error instanceof QuestionsOpen ? refused(error.questions) : error;
  }
}

function refused(questions: readonly Question[]): Error {
  const composed = refusal(questions, asCall);
  const [question] = questions;
  if (question?.id !== 'earlier') return composed;
  const known = [...question.done, ...question.unknown].toSorted((a, b) => b.rows - a.rows);
  return new AlreadyDoneError(composed, { batchId: known[0]?.batch ?? '', rows: sumOf(question.done) });
}

/** A batch that exists keeps what it was made with. */
function sayIgnored(
  { options: { onNotice }, config, options }: Servers,
  found: FoundBatch,
  given: BatchOptions,
): void {
  const ignored = differences(found, requestFrom(given, serviceOf(config, options.service)).settings);
  if (ignored.length > 0) onNotice?.(`The batch keeps its own settings; ignored: ${ignored.join(', ')}`);
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

/** Limits that are given again change a running batch. It may end meanwhile, or have no worker yet: that is no failed start. */
async function changeLimits({ batches }: Session, found: FoundBatch, limits: LimitChange): Promise<void> {
  if (Object.keys(limits).length === 0) return;
  try {
    await batches.scale(refOf(found), limits);
  } catch (error) {
    if (!(['E512', 'E513', 'E518'] as const).some((code) => isRunsheetError(error, code))) throw error;
  }
}
