// The page of a batch in Temporal's UI: a small table of its progress, as Markdown. The workflow answers a query with it, so it
// adds nothing to the history.

import { rowsDone } from '../accounting/tally.ts';
import type { Progress } from './progress.ts';

export function currentDetails(shown: Progress): string {
  const { tally, rows, done, running, sending, unconfirmed, retrying, unsent, costUsd, maxCostNano } = shown;
  const bad = rowsDone(tally) - tally.outcomes.succeeded;
  const cells: readonly (readonly [name: string, value: string | number])[] = [
    ['rows', `${done} of ${rows} done`],
    ['succeeded', tally.outcomes.succeeded],
    ['without success', bad === 0 ? 0 : `**${bad}**`],
    ['running', running + sending],
    ['unconfirmed', unconfirmed],
    ['to send', unsent + retrying],
    [
      'cost',
      `$${costUsd.toFixed(2)}${maxCostNano === undefined ? '' : ` of $${(maxCostNano / 1e9).toFixed(2)}`}`,
    ],
  ];
  const table = ['| | |', '|---|---|', ...cells.map(([name, value]) => `| ${name} | ${value} |`)];
  return [`**${stateText(shown, bad)}**`, '', ...table, ...pausesOf(shown)].join('\n');
}

function stateText({ state }: Progress, bad: number): string {
  return bad === 0 ? state : `${state}, ${bad} row${bad === 1 ? '' : 's'} without success`;
}

function pausesOf({ pauses, batch }: Progress): readonly string[] {
  if (pauses.length === 0) return [];
  const lines = pauses.map(({ kind, reason }) => `- paused (${kind}): ${plain(reason)}`);
  return ['', ...lines, '', `\`runsheet status ${batch}\` says what to do.`];
}

/** Text of the service is no Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, String.raw`\$&`).replaceAll(/\s+/g, ' ');
