// Prints the end of a batch: outcomes, the places of the results, the closing line and the next commands.

import { usefulLines } from './found-concurrency.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { EXIT } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { notSucceeded, type Summary } from '../../results/summary.ts';
import { undeliveredNotices } from '../../library/handle/undelivered-notices.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import type { CanaryReport } from '../../results/estimate.ts';
import type { Printer } from '../context.ts';
import { batchJson, type BatchStatus } from '../json/batch-json.ts';
import { nextOfEnded } from '../next-command.ts';
import { ifPaid, type Paint } from '../format.ts';
import { count, plural, span } from '../../options/text/printed-numbers.ts';
import { refusedLines } from '../run/refused-lines.ts';
import { costText } from './cost-text.ts';

export type EndParams = {
  readonly printer: Printer;
  readonly batchFolder: FoundBatch;
  readonly canary?: CanaryReport;
  /** Prints the closing line of an otherwise silent command. */
  readonly printClosingLine?: (line: string) => void;
};

/** Returns the exit code. */
export async function printEnd(
  { printer, batchFolder, printClosingLine, canary }: EndParams,
  summary: Summary,
): Promise<number> {
  printer.raw(closing(summary, batchFolder.folder, printer.paint));
  printClosingLine?.(closingLine(summary));
  if (printer.output === 'json')
    printer.json(batchJson(batchFolder, await endOf(batchFolder, summary, canary)));
  else if (printer.output === 'text') printer.name(batchFolder.folder);
  printer.next(...nextOfEnded(batchFolder, summary));
  return notSucceeded(summary) === 0 ? EXIT.ok : EXIT.someRowsFailed;
}

async function endOf(
  batchFolder: FoundBatch,
  summary: Summary,
  canary: CanaryReport | undefined,
): Promise<BatchStatus> {
  const { batch, folder, file, store } = batchFolder;
  const { rows, outcomes } = summary;
  const state = 'finished';
  const undelivered = await undeliveredNotices(store);
  return {
    batch,
    folder,
    state,
    rows,
    outcomes,
    summary,
    undelivered,
    ...definedOnly({ from: file.from, canary }),
  };
}

export function closing(summary: Summary, path: string, paint: Paint): string {
  const folder = terminalLine(path);
  const { outcomes, rows, seconds, rehearsal } = summary;
  const failed = notSucceeded(summary);
  const mark = failed === 0 ? paint('green', '✓') : paint('yellow', '!');
  const unsuccessful = Object.entries(outcomes).filter(([name, times]) => name !== 'succeeded' && times > 0);
  const lines = [
    `${mark} ${count(outcomes.succeeded)} of ${count(rows)} rows succeeded in ${span(seconds)}${rehearsal ? ' · rehearsal' : ''}`,
    ...unsuccessful.flatMap(([name, times]) => [
      `  ${paint('red', `${count(times)} ${name}`)}`,
      ...(name === 'refused' ? refusedLines({ rows: times, first: summary.refused ?? [] }) : []),
    ]),
    ...(summary.reused > 0 ? [reusedLine(summary)] : []),
    ...(summary.climbing === undefined ? [] : [climbingLine(summary.climbing)]),
    ...spendLines(summary, paint),
    ...usefulLines(summary),
    `  results   ${folder}/results.csv`,
    ...(failed > 0 ? [`  failures  ${folder}/failures.csv`] : []),
    `  report    ${folder}/report.html`,
    closingLine(summary),
  ];
  return `\n${lines.join('\n')}\n`;
}

const reusedLine = ({ reused, rows, runs, total_cost_usd: usd }: Summary): string =>
  `  reused ${count(reused)} of ${count(rows)}; ${plural(runs, 'run')} bought${ifPaid(usd, (amount) => `, ${amount}`)}`;

const climbingLine = ({ runs, seconds, cost_usd: usd }: NonNullable<Summary['climbing']>): string =>
  `  climbing  ${plural(runs, 'run')} below the rung that worked: ${span(seconds)} of GPU time${estimated(usd)}`;

const estimated = (usd: number | undefined): string => ifPaid(usd, (amount) => `, ${amount} estimated`);

/** Runs beyond those of the rows that were paid for, or may have been. */
function spendLines(summary: Summary, paint: Paint): readonly string[] {
  const { duplicates, undelivered, executed_again: again, unseen_runs_at_most: unseen, lists } = summary;
  const seconds = `${span(duplicates.gpu_seconds)} of GPU time`;
  const why = lists === 'none' ? 'the service has no run list' : 'the run list may lack runs';
  const lines = [
    duplicates.runs > 0
      ? `${plural(duplicates.runs, 'duplicate run')}: ${seconds}${estimated(duplicates.cost_usd)}; duplicates.jsonl names them`
      : undefined,
    undelivered.rows > 0
      ? `${plural(undelivered.rows, 'row')} paid for and not kept${estimated(undelivered.cost_usd)}: retry fetches the files, retry --buy-again buys new runs`
      : undefined,
    again === undefined
      ? undefined
      : `${plural(again.rows, 'row')} ${again.rows === 1 ? 'was' : 'were'} executed again (the server stopped): ${span(again.seconds)} of GPU time lost`,
    unseen > 0
      ? `${plural(unseen, 'request')} may have started a run that was never seen: ${why}`
      : undefined,
  ];
  return lines.filter((line) => line !== undefined).map((line) => `  ${paint('yellow', line)}`);
}

/** `300 rows, 300 runs, 0 bought twice, $4.12 estimated, survived 3 restarts`. */
export function closingLine(summary: Summary): string {
  const { rows, runs, bought_twice: twice, lists, unseen_runs_at_most: unseen } = summary;
  return [
    plural(rows, 'row'),
    plural(runs, 'run'),
    // Only a complete run list shows every duplicate.
    lists === 'complete' ? `${count(twice)} bought twice` : `${count(twice)} known to be bought twice`,
    unseen > 0 ? `at most ${plural(unseen, 'unseen run')}` : undefined,
    costText(summary),
    workersText(summary),
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function workersText({ workers = 0, restarts }: Summary): string | undefined {
  if (restarts !== undefined) return restarts > 0 ? `survived ${plural(restarts, 'restart')}` : undefined;
  return workers > 1 ? plural(workers, 'worker') : undefined;
}
