// Makes a batch of a sheet and starts it, or attaches to the one that has the same rows.

import { isRunsheetError, list, problem } from '../errors/error.ts';
import { createParams } from '../create-batch/batch-request.ts';
import { withCopy } from '../create-batch/copy-sheet.ts';
import { createBatch, type CreateParams } from '../create-batch/create-batch.ts';
import type { Overlap, SharedRows } from '../create-batch/overlap.ts';
import type { LimitChange } from '../batch/params.ts';
import { requestFrom, type BatchOptions } from './batch-options.ts';
import { serviceOf } from './connect-options.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { limitChangeOf } from './given-limits.ts';
import { givenSheet, type Sheet } from './given-rows.ts';
import type { Servers } from './servers.ts';
import type { Session } from './session.ts';
import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { AlreadyDoneError, inputRefused } from './thrown-errors.ts';

/** Resolves when batch.json is written and the workflow runs. */
export async function startBatch(servers: Servers, sheet: Sheet, options: BatchOptions): Promise<FoundBatch> {
  const found = await withBatch(servers, sheet, options, (params) =>
    createBatch({ ...params, decide: (overlap) => decided(overlap, options.reuse) }),
  );
  const summary = await summaryOfDone(found);
  if (summary !== undefined) {
    if (options.reuse !== 'reuse') throw doneBefore(found.batch, summary.rows);
    return found;
  }
  const session = await servers.for(found);
  const how = await startOrAttach(session, found);
  if (how === 'attached' || found.laidOut === undefined)
    await changeLimits(session, found, limitChangeOf(options));
  return found;
}

/** Copies the sheet, asks the service, and passes both on. An error of the program's own iterable is thrown as it is. */
export async function withBatch<T>(
  servers: Servers,
  sheet: Sheet,
  options: BatchOptions,
  use: (params: CreateParams) => Promise<T>,
): Promise<T> {
  const { config } = servers;
  const request = requestFrom(options, serviceOf(config, servers.options.service));
  // The local run service has to run before it can be asked.
  if (servers.options.service === 'local') await servers.open(true);
  const given = givenSheet(sheet);
  try {
    return await withCopy(given.path, { out: config.out, ...given.copy }, async (copy) =>
      use(await createParams(config, copy, request)),
    );
  } catch (error) {
    const failure = given.failure();
    throw failure === undefined ? inputRefused(error) : failure.error;
  }
}

/** Decides about rows of earlier batches. Throws AlreadyDoneError, and E531 for rows that one may still send. */
async function decided(
  { rows, done, open, unknown }: Overlap,
  reuse: BatchOptions['reuse'],
): Promise<'reuse' | 'again'> {
  const again = "start(sheet, { …, reuse: 'again' })";
  const isBusy = open.length > 0;
  if (isBusy) throw problem('E531', { rows: `${sharedText(open)} open`, batches: namesOf(open), again });
  if (reuse === 'reuse') return 'reuse';
  const known = [...done, ...unknown].toSorted((a, b) => b.rows - a.rows);
  const composed = problem('E530', {
    rows: [
      ...(done.length > 0 ? [`of ${rows} rows, ${sharedText(done)} done`] : []),
      ...(unknown.length > 0 ? [`${sharedText(unknown)} perhaps bought`] : []),
    ].join('; '),
    isVersionSure: known.every(({ isVersionSure }) => isVersionSure),
    left: rows - sumOf(done),
    all: rows,
    reuse: "start(sheet, { …, reuse: 'reuse' })",
    again,
  });
  throw new AlreadyDoneError(composed, { batchId: known[0]?.batch ?? '', rows: sumOf(done) });
}

const namesOf = (shared: readonly SharedRows[]): readonly string[] => shared.map(({ batch }) => batch);
const sumOf = (shared: readonly SharedRows[]): number => shared.reduce((sum, { rows }) => sum + rows, 0);
const sharedText = (shared: readonly SharedRows[]): string =>
  list(shared.map(({ batch, rows }) => `${rows} in ${batch}`));

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
