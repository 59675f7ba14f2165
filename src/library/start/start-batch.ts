// Makes a batch of a sheet and starts it, or attaches to the one that has the same rows.

import { isRunsheetError, list, problem } from '../../errors/error.ts';
import { createBatch, type CreateParams } from '../../create-batch/create-batch.ts';
import type { Overlap, SharedRows } from '../../create-batch/reuse/overlap.ts';
import type { LimitChange } from '../../options/limits.ts';
import { limitsFrom, requestFrom, type BatchOptions } from './batch-options.ts';
import { serviceOf } from '../connect-options.ts';
import { refOf, type FoundBatch } from '../handle/found-batch.ts';
import { withSource, type MadeBefore, type Source } from './given-source.ts';
import { refuseNoPool } from './known-pool.ts';
import { prepareNotify } from '../../notices/notify-targets.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { AlreadyDoneError } from '../thrown-errors.ts';

/** Resolves when batch.json is written and the workflow runs. */
export async function startBatch(
  servers: Servers,
  source: Source,
  options: BatchOptions,
): Promise<FoundBatch> {
  const limits = limitsFrom(options);
  await prepareNotify(servers.config, limits, () => servers.isCluster);
  // A batch that was made for a pool keeps it, so the pool must exist before.
  if (limits.pool !== undefined) await refuseNoPool(await servers.open(isLocal(servers)), limits);
  const found = await withBatch(servers, source, options, true, async (params, { made }) =>
    made === undefined
      ? createBatch({ ...params, decide: (overlap) => decided(overlap, options.reuse) })
      : { ...made, laidOut: undefined },
  );
  const summary = await summaryOfDone(found);
  if (summary !== undefined) {
    if (options.reuse !== 'reuse') throw doneBefore(found.batch, summary.rows);
    return found;
  }
  const session = await servers.for(found);
  const how = await startOrAttach(session, found);
  if (how === 'attached' || found.laidOut === undefined) await changeLimits(session, found, limits);
  return found;
}

const agreeOf = ({ guess }: BatchOptions) => (guess === 'accept' ? { agree: async () => {} } : {});

const isLocal = ({ options }: Servers): boolean => options.service === 'local';

/** Reads the source, asks the service, and passes both on. */
export async function withBatch<T>(
  servers: Servers,
  source: Source,
  options: BatchOptions,
  uploads: boolean,
  use: (params: CreateParams, before: MadeBefore) => Promise<T>,
): Promise<T> {
  const { config } = servers;
  const request = requestFrom(options, serviceOf(config, servers.options.service));
  // The local run service has to run before it can be asked.
  if (isLocal(servers)) await servers.open(true);
  return withSource(source, { config, request, options, uploads }, (params, before) =>
    use({ ...params, ...agreeOf(options) }, before),
  );
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
