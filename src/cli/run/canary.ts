// What commands show about a canary: its rows before they are sent, how far it is, and the forecast after it.

import type { CanaryProgress } from '../../batch/canary.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { list } from '../../errors/error.ts';
import { readCanaryRuns } from '../../results/past-runs.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { estimateFromCanary, type Estimate } from '../../library/start/estimate.ts';
import { forecastLines } from './forecast.ts';
import { count, money, plural } from '../format.ts';

/** The forecast of the whole batch, its canary included. */
export type CanaryReport = {
  readonly rows: number;
  readonly succeeded: number;
  readonly cost_usd: number;
  readonly estimate: Estimate;
};

/** undefined as long as rows of the canary are not collected, and in a batch without one. */
export async function canaryReport(found: FoundBatch): Promise<CanaryReport | undefined> {
  const runs = await readCanaryRuns(found);
  if (runs === undefined) return undefined;
  const { rows, succeeded, costUsd } = runs;
  return {
    rows,
    succeeded,
    cost_usd: Number(costUsd.toFixed(6)),
    estimate: estimateFromCanary(found, runs),
  };
}

export const canaryReportLines = ({
  rows,
  succeeded,
  cost_usd,
  estimate,
}: CanaryReport): readonly string[] => [
  `  canary    ${count(succeeded)} of ${plural(rows, 'row')} succeeded, ${money(cost_usd)}`,
  ...forecastLines(estimate),
];

/** What `plan` says about the rows that are sent first. */
export function canaryPlanLines(rows: readonly number[] | undefined): readonly string[] {
  if (rows === undefined) return [];
  return [
    `  canary    first, alone: ${rows.length === 1 ? 'row' : 'rows'} ${list(rows.map((row) => count(row)))}`,
  ];
}

export const canaryText = ({ rows, ended }: CanaryProgress): string =>
  `canary: ${count(ended)} of ${count(rows)} ended`;

/** Whether the batch has decided what follows its canary. */
export const isJudged = ({ canary, pauses }: Pick<Progress, 'canary' | 'pauses'>): boolean =>
  canary?.gate === 'open' || pauses.some(({ kind }) => kind === 'canary');
