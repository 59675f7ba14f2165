// A further sheet of a batch, which keeps its mapping, deployment and service.

import {
  appendRows,
  compareFurther,
  furtherQuestions,
  layOutFurther,
  type AppendParams,
  type FurtherSheet,
} from '../../create-batch/append/append-rows.ts';
import type { Comparison } from '../../create-batch/append/compare-rows.ts';
import { withCopy, type SheetCopy } from '../../create-batch/copy-sheet.ts';
import { preparingIn } from '../../create-batch/preparing.ts';
import { asOption, QuestionsOpen, refusal } from '../../create-batch/questions.ts';
import { findDeployment } from '../../create-batch/find-deployment.ts';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import { STARTED_FILE } from '../../store/batch-file.ts';
import { userHere } from '../../temporal/user-here.ts';
import { readingFrom } from '../start/batch-options.ts';
import { estimateOf, type Estimate } from '../start/estimate.ts';
import type { FoundBatch } from './found-batch.ts';
import { givenSheet, type Sheet } from '../start/given-rows.ts';
import type { AppendOptions } from './handle-options.ts';
import { inputRefused } from '../thrown-errors.ts';

/** Checks the sheet against the service; a local one must have been started. */
export async function checkFurther(
  config: Config,
  found: FoundBatch,
  copy: SheetCopy,
  asked: Pick<AppendParams, 'reading' | 'order' | 'isAccepted' | 'commandWith'>,
): Promise<FurtherSheet> {
  const { file } = found;
  const service = openServices(config, openTransport(1)).at(file.service);
  const { inputTypes } = await findDeployment(service, file.deployment.id);
  return layOutFurther({ out: config.out, batch: found, copy, ...asked, inputTypes });
}

/** What was added: the pass, if there are new or changed rows. */
export type Appended = {
  readonly pass: number | undefined;
  readonly rows: number;
};

/** What would be added. */
export type AppendPlan = {
  /** The id of the batch. */
  readonly batch: string;
  /** New rows. */
  readonly appended: number;
  /** Rows that are sent again with other inputs. */
  readonly changed: number;
  /** Rows that are left out, because the batch has them. */
  readonly same: number;
  /** Cost and time of the new rows, and of those that are sent again. */
  readonly estimate: Estimate;
};

/** Adds the rows of a program; rows that the batch has are left out. The caller signals the pass to the batch. */
export async function appendSheet(
  config: Config,
  found: FoundBatch,
  sheet: Sheet,
  options: AppendOptions,
  servers: () => Promise<unknown>,
): Promise<Appended> {
  return withFurther(config, found, sheet, options, async (further, compared) => {
    const answers = options.acceptGpu ? { otherGpu: 'accept' as const } : {};
    const questions = furtherQuestions(further, compared, answers);
    if (questions.length > 0) throw new QuestionsOpen(questions);
    // Without its servers, the call fails before it adds anything.
    await servers();
    const added = await appendRows(further, compared, userHere(), answers);
    return { pass: added?.pass, rows: added === undefined ? 0 : added.appended + added.changed };
  });
}

/** Compares the rows with those of the batch; sends nothing. */
export const planAppended = (
  config: Config,
  found: FoundBatch,
  sheet: Sheet,
  options: AppendOptions,
): Promise<AppendPlan> =>
  withFurther(config, found, sheet, options, async (further, compared) => {
    const { appended, changed, same } = compared;
    return {
      batch: found.batch,
      appended,
      changed,
      same,
      estimate: await estimateFurther(config, further, compared),
    };
  });

/** What the rows that are added will cost and take. */
export const estimateFurther = (
  { out }: Config,
  { batch, laidOut }: FurtherSheet,
  { gpus }: Comparison,
): Promise<Estimate> => estimateOf(out, { file: batch.file, laidOut: { ...laidOut, gpus } });

async function withFurther<T>(
  config: Config,
  found: FoundBatch,
  sheet: Sheet,
  options: AppendOptions,
  use: (further: FurtherSheet, compared: Comparison & Disposable) => Promise<T>,
): Promise<T> {
  const { batch, file, store } = found;
  if (file.sheet.options.ladder !== undefined)
    throw problem('E602', { what: `${batch} has a ladder, so rows cannot be added to it` });
  if (!(await store.exists(STARTED_FILE)))
    throw problem('E602', { what: `${batch} was never started`, hint: 'resume() starts it' });
  const given = givenSheet(sheet, options.format, options.sheetName);
  try {
    return await withCopy(given.path, { ...preparingIn(config), ...given.copy }, async (copy) => {
      const further = await checkFurther(config, found, copy, {
        ...readingFrom(options),
        isAccepted: options.guess === 'accept',
      });
      using compared = await compareFurther(further);
      // Awaited here, because the comparison is closed on return.
      return await use(further, compared);
    });
  } catch (error) {
    const failure = given.failure();
    if (failure !== undefined) throw failure.error;
    throw inputRefused(error instanceof QuestionsOpen ? refusal(error.questions, asOption) : error);
  }
}
