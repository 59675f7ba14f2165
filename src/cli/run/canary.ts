// What commands show about a canary: its rows before they are sent, how far it is, and the forecast after it.

import type { CanaryProgress } from '../../batch/canary.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { list } from '../../errors/error.ts';
import type { CanaryReport } from '../../library/start/estimate.ts';
import { forecastLines } from './forecast.ts';
import { count, money, plural } from '../format.ts';

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
