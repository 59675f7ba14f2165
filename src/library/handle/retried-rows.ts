// Which rows of a batch are sent again, and with what.

import type { PassParams } from '../../create-batch/append/add-pass.ts';
import type { Answers } from '../../create-batch/questions.ts';
import type { FailureKind } from '../../options/failure-kind.ts';
import type { Gpu } from '../../options/gpu.ts';
import type { Outcome } from '../../batch/outcome.ts';
import { findDeployment } from '../../create-batch/find-deployment.ts';
import type { Config } from '../../host/config.ts';
import { resultAttempt, type RowRecord } from '../../results/row-record.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import { changeFrom, type InputChange } from '../../sheet/input-change.ts';
import type { Kind } from '../../sheet/parse-cell.ts';
import { userHere } from '../../temporal/user-here.ts';
import type { FoundBatch } from './found-batch.ts';

/** A row is sent again if all that is given applies to it. */
export type RetryFilter = {
  /** (default: `failed` and `timed-out`) */
  readonly outcome?: readonly Outcome[];
  /** Row numbers, from 1; both ends of a range are included. */
  readonly rows?: readonly (number | { readonly from: number; readonly to: number })[];
  readonly keys?: readonly string[];
  /** How its last run failed. */
  readonly failure?: readonly FailureKind[];
  /** Sends them on this GPU. */
  readonly gpu?: Gpu;
  /** Buys a new run where only the files of a run are missing, instead of fetching them again. */
  readonly buyAgain?: boolean;
  /** Why, for the events of the batch. */
  readonly reason?: string;
};

const USUAL: readonly Outcome[] = ['failed', 'timed-out'];

export function passParams(filter: RetryFilter, answers: Answers, change?: InputChange): PassParams {
  const { outcome = USUAL, rows, keys, failure, gpu, reason, buyAgain = false } = filter;
  const isWanted = (record: RowRecord): boolean =>
    outcome.includes(record.outcome) &&
    (rows === undefined || rows.some((one) => isIn(one, record.row))) &&
    (keys === undefined || keys.includes(record.key)) &&
    (failure === undefined || failure.includes(failureOf(record)));
  return {
    isWanted,
    answers,
    by: userHere(),
    buysAgain: buyAgain,
    ...(gpu === undefined ? {} : { gpu }),
    ...(reason === undefined ? {} : { reason }),
    ...(change === undefined ? {} : { change }),
  };
}

const isIn = (one: NonNullable<RetryFilter['rows']>[number], row: number): boolean =>
  typeof one === 'number' ? row === one : row >= one.from && row <= one.to;

const failureOf = (record: RowRecord): FailureKind =>
  record.outcome === 'timed-out' ? 'timeout' : (resultAttempt(record)?.failure ?? 'unknown');

/** Other inputs, with the types of the deployment; the local run service has to run. Throws E602. */
export async function inputChangeOf(
  config: Config,
  { file }: FoundBatch,
  set: Readonly<Record<string, string>>,
): Promise<InputChange> {
  const service = openServices(config, openTransport(1)).at(file.service);
  const { inputTypes } = await findDeployment(service, file.deployment.id);
  const kinds = Object.fromEntries(file.sheet.inputs.map(({ input, kind }) => [input, kind as Kind]));
  const declared = file.sheet.options.types;
  return changeFrom(set, inputTypes ? declared : { ...kinds, ...declared }, inputTypes);
}
