// Appends the rows of a further sheet to a batch.

import { FurtherRows, type FurtherRequest } from '../../batches/append/further-rows.ts';
import type { Comparison } from '../../batches/append/compare-rows.ts';
import type { Appended } from '../../batches/append/append-rows.ts';
import { asOption, type Question } from '../../batches/questions.ts';
import { settle, type Policy } from '../../batches/settle.ts';
import type { Config } from '../../host/settings/config.ts';
import { userHere } from '../../temporal/user-here.ts';
import { estimateOf, type Estimate } from '../../results/estimate.ts';
import type { RefusedRows } from '../../sheet/refused-rows.ts';
import { givenSheet, type Sheet, answersFrom, readingFrom } from '../start/program-rows.ts';
import { inputRefused } from '../thrown-errors.ts';
import type { Servers } from '../servers.ts';
import { isUnderWay } from '../start/start-or-attach.ts';
import type { FoundBatch } from './found-batch.ts';
import type { AppendOptions } from './handle-options.ts';

/** The rows that `append` would add. */
export type AppendPlan = {
  /** The id of the batch. */
  readonly batch: string;
  /** New rows. */
  readonly appended: number;
  /** Rows that are sent again with other inputs. */
  readonly changed: number;
  /** Rows that are skipped, because the batch has them. */
  readonly same: number;
  /** With `invalid: 'skip'`: rows that cannot be read and are not added, and the first ten of them. */
  readonly refused?: RefusedRows;
  /** Cost and time of the new and changed rows. */
  readonly estimate: Estimate;
};

export type FurtherAsked = Omit<FurtherRequest, 'batch' | 'by'>;

/** The caller disposes of the proposal. */
export async function proposeFurther(
  servers: Servers,
  batch: FoundBatch,
  request: FurtherAsked,
): Promise<FurtherRows> {
  await servers.refuseElsewhere(batch);
  return FurtherRows.of(
    { ...request, batch, by: userHere() },
    {
      ...servers.around(batch.file.service),
      isUnderWay: () =>
        servers.asking(async (session) => session !== undefined && isUnderWay(session, batch)),
    },
  );
}

/** Adds the rows. Returns undefined if the batch has all of them. The caller signals the pass to the batch. */
export async function appendFurther(
  servers: Servers,
  batch: FoundBatch,
  request: FurtherAsked,
  { show, ...policy }: Omit<Policy, 'show'> & { readonly show?: (rows: FurtherRows) => Promise<void> },
): Promise<Appended | undefined> {
  await using rows = await proposeFurther(servers, batch, request);
  // Awaited here, because returning disposes of the proposal. Rows that go into one batch go into no other.
  return (await settle(rows, { ...policy, ...(show && { show: () => show(rows) }) })) as Appended | undefined;
}

/** Adds the rows of a program. */
export const appendSheet = (
  servers: Servers,
  batchFolder: FoundBatch,
  sheet: Sheet,
  options: AppendOptions,
): Promise<Appended | undefined> =>
  withSheet(sheet, options, (request) => appendFurther(servers, batchFolder, request, { wording: asOption }));

/** The rows that would be added, for commands. */
export type FurtherPlan = Pick<Comparison, 'appended' | 'changed' | 'same' | 'sameFailed' | 'gpus'> & {
  readonly rows: number;
  readonly unused: readonly string[];
  readonly refused?: RefusedRows;
  /** Whether rows have keys. */
  readonly isKeyed: boolean;
  readonly estimate: Estimate;
};

/** Returns undefined if the sheet needs other guesses to be readable. */
export async function shownFurther(
  { config }: Servers,
  { further }: FurtherRows,
): Promise<FurtherPlan | undefined> {
  if (further === undefined) return undefined;
  const { laidOut, options } = further.sheet;
  const { appended, changed, same, sameFailed, gpus } = further.compared;
  return {
    appended,
    changed,
    same,
    sameFailed,
    gpus,
    rows: laidOut.rows,
    unused: laidOut.unused,
    ...(laidOut.refused && { refused: laidOut.refused }),
    isKeyed: options.keyColumn !== undefined,
    estimate: await estimateFurther(config, further),
  };
}

export async function planFurther(
  servers: Servers,
  batchFolder: FoundBatch,
  request: FurtherAsked,
): Promise<FurtherPlan & { readonly questions: readonly Question[] }> {
  await using rows = await proposeFurther(servers, batchFolder, { listsErrors: false, ...request });
  const { questions } = rows;
  // A plan buys nothing, so guesses are accepted; errors that they cause are thrown.
  if (rows.further === undefined) await rows.with({ answers: { guesses: 'accept' } });
  return { ...((await shownFurther(servers, rows)) as FurtherPlan), questions };
}

export const planAppended = (
  servers: Servers,
  batchFolder: FoundBatch,
  sheet: Sheet,
  options: AppendOptions,
): Promise<AppendPlan> =>
  withSheet(sheet, options, async (request) => {
    const plan = await planFurther(servers, batchFolder, request);
    const { appended, changed, same, refused, estimate } = plan;
    return { batch: batchFolder.batch, appended, changed, same, ...(refused && { refused }), estimate };
  });

export const estimateFurther = (
  { out }: Config,
  { sheet: { batch, laidOut }, compared: { gpus } }: NonNullable<FurtherRows['further']>,
): Promise<Estimate> => estimateOf(out, { file: batch.file, laidOut: { ...laidOut, gpus } });

async function withSheet<T>(
  sheet: Sheet,
  { mayBuyTwice = false, ...options }: AppendOptions,
  use: (asked: FurtherAsked) => Promise<T>,
) {
  const sheetSource = givenSheet(sheet, options);
  const { path, copy: copying } = sheetSource;
  try {
    const answers = answersFrom({ ...options, mayBuyTwice });
    return await use({ path, copying, answers, ...readingFrom(options) });
  } catch (error) {
    const failure = sheetSource.failure();
    throw failure === undefined ? inputRefused(error) : failure.error;
  }
}
