// How the stages of a pipeline are shown: a line for each, why one waits or failed, and the command that helps.

import { pauseHint } from '../../batch/pausing/pause-kinds.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { PipelineFolder, StageStatus } from '../../library/pipeline/pipeline-status.ts';
import { count, money, plural } from '../format.ts';
import { nextCommand, type Next } from '../next-command.ts';

/** `drafts    finished  5 of 5 rows, $0.10`. */
export const stageLine = (status: StageStatus): string =>
  terminalLine(
    [`  ${status.stage.padEnd(12)} ${status.state.padEnd(11)}`, rowsText(status), reasonOf(status)]
      .filter((text) => text !== '')
      .join('  '),
  ).trimEnd();

function rowsText({ status }: StageStatus): string {
  if (status === undefined) return '';
  const ended = Object.values(status.outcomes).reduce((sum, one) => sum + one, 0);
  const { succeeded } = status.outcomes;
  const failed = ended - succeeded;
  const cost = status.summary === undefined ? '' : `, ${money(status.summary.total_cost_usd)}`;
  return `${count(succeeded)} of ${plural(status.rows, 'row')}${failed > 0 ? `, ${count(failed)} without success` : ''}${cost}`;
}

/** Why it does not advance. */
export function reasonOf({ failure, waitsFor, from = '', status }: StageStatus): string {
  if (failure !== undefined) return [failure.code, failure.message].filter(Boolean).join(': ');
  if (waitsFor === 'source') return `after ${from}`;
  if (waitsFor === 'picks') return `for picks of ${from}`;
  if (waitsFor === 'repair') return `for the rows of ${from} that did not succeed`;
  return status?.state === 'paused' ? (status.progress?.reason ?? '') : '';
}

/** What helps; `command`: that which started the pipeline. */
export function helpFor(
  { file, folder }: PipelineFolder,
  status: StageStatus,
  all: readonly StageStatus[],
): readonly Next[] {
  const { found, waitsFor, state } = status;
  const source = all.find(({ stage }) => stage === status.from);
  const named = (batch: string) => ({ batch, folder: folder.slice(0, -file.pipeline.length) + batch });
  if (state === 'failed') return [['again', 'give the command of the pipeline again']];
  if (waitsFor === 'picks')
    return [
      ['look', nextCommand('open', source?.found ?? named(file.pipeline))],
      ['pick', nextCommand('pick', named(file.pipeline), { more: `${status.stage} --picks picks.csv` })],
    ];
  if (waitsFor === 'repair' && source?.found !== undefined)
    return [
      ['again', nextCommand('retry', source.found)],
      ['or', `partial = true in stage ${status.stage}, and the command of the pipeline again`],
    ];
  if (state === 'paused' && found !== undefined)
    return [['hint', pauseHint(found.batch, status.status?.progress?.pauses[0]?.kind, false)]];
  return [];
}
