// Shows the stages of a pipeline: a line for each, why a stage waits or failed, and the command that helps.

import { type Next } from '../context.ts';
import { dirname } from 'node:path';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import type { PipelineFolder } from '../../batches/pipeline/pipeline-folder.ts';
import type { StageStatus } from '../../library/pipeline/pipeline-status.ts';
import { configOf } from '../flags/batch-options.ts';
import { ifPaid } from '../format.ts';
import { count, plural } from '../../options/text/printed-numbers.ts';

/** `drafts    finished  5 of 5 rows, $0.10`. */
export const stageLine = (status: StageStatus): string =>
  terminalLine(
    [`  ${status.stage.padEnd(12)} ${status.state.padEnd(11)}`, rowsText(status), status.reason]
      .filter((text) => text !== '')
      .join('  '),
  ).trimEnd();

function rowsText({ status }: StageStatus): string {
  if (status === undefined) return '';
  const ended = Object.values(status.outcomes).reduce((sum, rows) => sum + rows, 0);
  const { succeeded } = status.outcomes;
  const failed = ended - succeeded;
  const cost = ifPaid(status.summary?.total_cost_usd ?? 0, (amount) => `, ${amount}`);
  return `${count(succeeded)} of ${plural(status.rows, 'row')}${failed > 0 ? `, ${count(failed)} without success` : ''}${cost}`;
}

/** The commands that help waiting stages, each once. */
export function helpOf(opened: PipelineFolder, stages: readonly StageStatus[]): readonly Next[] {
  const place = placeOf(opened);
  const helps = stages.filter(({ help }) => help !== '').map(({ help }) => `${help}${place}`);
  const hasFailed = stages.some(({ state, batchFolder }) => state === 'failed' && batchFolder === undefined);
  const command = hasFailed ? jobCommand(opened) : undefined;
  return [
    ...[...new Set(helps)].map((help): Next => ['helps', help]),
    ...(command === undefined ? [] : [['corrected', command] as const]),
  ];
}

/** The command that runs the job again; undefined if an earlier release did not record it. */
export const jobCommand = (opened: PipelineFolder): string | undefined => {
  const { command } = opened.file;
  return command && `runsheet run ${command.map(shellWord).join(' ')}${placeOf(opened)}`;
};

function placeOf({ folder }: PipelineFolder): string {
  const own = dirname(folder);
  return own === configOf({}).out ? '' : ` --out ${shellWord(own)}`;
}
