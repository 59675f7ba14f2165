// Formats the forecast of a batch that has not begun.

import { terminalLine } from '../../errors/outside-text.ts';
import type { Interval } from '../../results/forecast/estimated-sum.ts';
import type { Estimate, ShownAmounts, CanaryReport } from '../../results/estimate.ts';
import { ifPaid } from '../format.ts';
import { count, money, plural, span } from '../../options/text/printed-numbers.ts';
import type { CanaryProgress } from '../../batch/canary.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { list } from '../../errors/error.ts';

export function forecastLines(estimate: Estimate): readonly string[] {
  const { cost_usd, seconds, source } = estimate;
  const gpus = Object.entries(estimate.by_gpu).sort(([, a], [, b]) => b.rows - a.rows);
  const isPriced = gpus.some(([, amounts]) => amounts.usd_per_run_second !== null);
  if (cost_usd !== null && cost_usd.low === cost_usd.high)
    return [
      `  cost      ${fixedText(cost_usd.expected, source)}`,
      `  time      ${seconds === null ? 'unknown: no earlier run here' : intervalText(seconds, span)}`,
    ];
  if (source === 'prices')
    return isPriced
      ? [`  cost      unknown: no earlier run here${ifShort(estimate)}`]
      : [`  cost      ${NO_PRICE}`, '  time      unknown: no earlier run here'];
  const isDetailed = gpus.length > 1 || (isPriced ? cost_usd : seconds) === null;
  return [
    `  cost      ${costText(cost_usd, isPriced)}`,
    `  time      ${seconds === null ? 'not known in total' : intervalText(seconds, span)}`,
    ...(isDetailed ? gpus.map(([gpu, shown]) => `            ${gpuText(gpu, shown)}`) : []),
    `            ${sourceText(estimate)}`,
  ];
}

function fixedText(usd: number, source: Estimate['source']): string {
  if (usd === 0) return `${money(0)}: by its price, a run is free`;
  return source === 'canary'
    ? `about ${money(usd)}, if the other rows cost as much`
    : `${money(usd)} by the price of a run, if none is tried again`;
}

const costText = (cost: Interval | null, isPriced: boolean): string =>
  cost === null ? (isPriced ? 'not known in total' : NO_PRICE) : intervalText(cost, money);
/** The user's own GPUs have no price. */
const NO_PRICE = 'not counted: no price is known';

const intervalText = ({ low, expected, high }: Interval, text: (number: number) => string): string =>
  `about ${text(expected)}, 90 % likely between ${text(low)} and ${text(high)}`;

function gpuText(gpu: string, shown: ShownAmounts): string {
  const { rows, runs, cost_usd, seconds } = shown;
  const name = terminalLine(`${gpu} × ${count(rows)}`);
  if (seconds === null) {
    const basis = runs === 0 ? 'no earlier run' : `only ${plural(runs, 'earlier run')}`;
    return `${name}: ${basis} here${ifShort(shown)}`;
  }
  const cost = cost_usd === null ? 'no price is known, ' : `${shortText(cost_usd, money)}, `;
  return `${name}: ${cost}alone ${shortText(seconds, span)}`;
}

function sourceText({ source, runs, batches: [newest = '', ...older] }: Estimate): string {
  if (source === 'canary') return `from the ${plural(runs, 'run')} of the canary, whose cost it includes`;
  const olderText = older.length === 0 ? '' : ` and ${plural(older.length, 'older batch', 'older batches')}`;
  return `from ${plural(runs, 'run')} in ${terminalLine(newest)}${olderText}, if these rows are like those`;
}

const shortText = ({ low, expected, high }: Interval, text: (number: number) => string): string =>
  `${text(expected)} (${text(low)} to ${text(high)})`;

/** The cost of all rows if each run takes a few seconds. */
const ifShort = ({ usd_per_run_second: usd }: ShownAmounts): string =>
  usd === null
    ? '; no price is known'
    : ifPaid(usd * 5, (amount) => `; if each row takes 5 s: about ${amount} in total`);

export const canaryReportLines = ({
  rows,
  succeeded,
  cost_usd,
  estimate,
}: CanaryReport): readonly string[] => [
  `  canary    ${count(succeeded)} of ${plural(rows, 'row')} succeeded${ifPaid(cost_usd, (amount) => `, ${amount}`)}`,
  ...forecastLines(estimate),
];

export function canaryPlanLines(rows: readonly number[] | undefined): readonly string[] {
  if (rows === undefined) return [];
  return [
    `  canary    first, alone: ${rows.length === 1 ? 'row' : 'rows'} ${list(rows.map((row) => count(row)))}`,
  ];
}

export const canaryText = ({ rows, ended }: CanaryProgress): string =>
  `canary: ${count(ended)} of ${count(rows)} ended`;

/** Whether the canary has been judged. */
export const isJudged = ({ canary, pauses }: Pick<Progress, 'canary' | 'pauses'>): boolean =>
  canary?.gate === 'open' || pauses.some(({ kind }) => kind === 'canary');
