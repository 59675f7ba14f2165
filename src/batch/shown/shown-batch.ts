// What Temporal's UI shows of a batch from its start on, and what the batch is found by.

import { clipped, clippedAtWord } from '../../options/clipped.ts';
import { count, money, plural } from '../../options/number-text.ts';
import { rowsDone } from '../accounting/tally.ts';
import type { Command } from '../commands.ts';
import { laneOf, numberOf } from '../state/lanes.ts';
import type { State } from '../state/state.ts';
import type { Progress } from './progress.ts';

/** A line, and Markdown, both encrypted like all payloads; and what is never encrypted. */
export type ShownBatch = {
  readonly summary: string;
  readonly details: string;
  readonly search: SearchedBatch;
};

export type SearchedBatch = {
  readonly deployment: string;
  readonly sheet: string;
  readonly rows: number;
  /** Equal for the same rows, deployment and service. */
  readonly content: string;
};

/** The part of batch.json that is shown. */
type Described = {
  readonly batch: string;
  readonly content: string;
  readonly sheet: { readonly name: string; readonly rows: number };
  readonly deployment: { readonly id: string; readonly name?: string | undefined };
  readonly service: { readonly base: string };
  readonly createdAt: string;
};

export function shownBatch({ batch, content, sheet, deployment, service, createdAt }: Described): ShownBatch {
  const name = deployment.name ?? deployment.id;
  return {
    summary: clippedAtWord(`${plural(sheet.rows, 'row')} · ${name} · ${sheet.name}`, SUMMARY_BYTES),
    details: [
      '| | |',
      '|---|---|',
      ...Object.entries({
        batch,
        sheet: sheet.name,
        rows: count(sheet.rows),
        deployment: name,
        service: service.base,
        created: createdAt,
      }).map(([what, value]) => `| ${what} | ${cell(value)} |`),
      '',
      `\`runsheet status ${batch}\` shows the progress, \`runsheet follow ${batch}\` follows it.`,
    ].join('\n'),
    search: { deployment: name, sheet: sheet.name, rows: sheet.rows, content },
  };
}

/** Names of sheets and deployments are no Markdown. */
const cell = (text: string): string => text.slice(0, 500).replaceAll(/[\\`*_[\]<>|\n\r]/g, String.raw`\$&`);

/**
 * What Temporal's UI shows beside each activity. It is short: the server refuses more than 400 bytes with encryption, a refused
 * command would block the workflow, and the id of the workflow takes up to 130 of them.
 */
export const SUMMARY_BYTES = 60;

type Known = Pick<State, 'params' | 'lanes'>;

/** undefined for a command without an activity. */
export function activitySummary(state: Known, command: Command): string | undefined {
  const text = textOf(state, command);
  return text === undefined ? undefined : clipped(text, SUMMARY_BYTES);
}

function textOf(state: Known, command: Command): string | undefined {
  switch (command.type) {
    case 'send':
      return sendText(state, command);
    case 'collect':
      return `part ${command.part}: ${plural(command.rows.length, 'row')}`;
    case 'poll':
      return `poll ${command.poll}: ${plural(command.runs.length, 'run')}`;
    case 'reconcile':
      return `look for ${plural(command.attempts.length, 'unconfirmed attempt')}`;
    case 'cancelRuns':
      return `cancel ${plural(command.runs.length, 'run')}`;
    case 'notify':
      return `${command.notice.news} to ${command.notice.to}`;
    case 'loadPass':
      return 'rows that were added or sent again';
    case 'close':
      return `results of ${plural(state.params.rows, 'row')}`;
    case 'keepEvidence':
    case 'keepLog':
    case 'publish':
    case 'reportUsage':
    case 'stopGroups':
    case 'wake':
      return undefined;
  }
}

/** `rows 33–64 → 32 runs on A10G`. Places are rows only in a batch without a queue; otherwise no number would mean anything to people. */
function sendText({ params, lanes }: Known, { attempts }: Extract<Command, { type: 'send' }>): string {
  const places = attempts.map(({ place }) => place);
  const lane = laneOf(places[0] as number);
  const numbers = places.map(numberOf);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const areRows = params.placesAreRows === true && lane === 0 && last <= params.rows;
  const span = first === last ? String(first) : `${first}–${last}`;
  const what = areRows && lanes.length === 1 ? `rows ${span}` : plural(attempts.length, 'row');
  const gpu = attempts[0]?.gpu ?? lanes[lane]?.gpu;
  return `${what} → ${plural(attempts.length, 'run')}${gpu === undefined ? '' : ` on ${gpu}`}`;
}

/**
 * The page of a batch in Temporal's UI: a small table of its progress, as Markdown. The workflow answers a query with it, so it
 * adds nothing to the history.
 */
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
    ...(costUsd === 0 && maxCostNano === undefined
      ? []
      : [['cost', costText(costUsd, maxCostNano)] as const]),
  ];
  const table = ['| | |', '|---|---|', ...cells.map(([name, value]) => `| ${name} | ${value} |`)];
  return [`**${stateText(shown, bad)}**`, '', ...table, ...pausesOf(shown)].join('\n');
}

const costText = (costUsd: number, maxCostNano?: number): string =>
  `${money(costUsd)}${maxCostNano === undefined ? '' : ` of ${money(maxCostNano / 1e9)}`}`;

function stateText({ state }: Progress, bad: number): string {
  return bad === 0 ? state : `${state}, ${plural(bad, 'row')} without success`;
}

function pausesOf({ pauses, batch }: Progress): readonly string[] {
  if (pauses.length === 0) return [];
  const lines = pauses.map(({ kind, reason }) => `- paused (${kind}): ${plain(reason)}`);
  return ['', ...lines, '', `\`runsheet status ${batch}\` says what to do.`];
}

/** Text of the service is no Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, String.raw`\$&`).replaceAll(/\s+/g, ' ');

// What Temporal can search batches by. Search attributes are never encrypted.

/** Name → type of all search attributes. Two Ints and one Double fit into what Temporal reserves in an SQL database. */
export const SEARCH_ATTRIBUTES = {
  RunsheetDeployment: 'KEYWORD',
  RunsheetSheet: 'KEYWORD',
  RunsheetRows: 'INT',
  RunsheetFailed: 'INT',
  RunsheetCost: 'DOUBLE',
  RunsheetContent: 'KEYWORD',
} as const;

/** A long name must not make the start fail: databases store up to 255 characters of a keyword. */
export const KEYWORD_BYTES = 200;

/** Those that change while the batch runs; `failed`: rows that have ended without success. */
export const searchValues = ({ rows, tally, costUsd }: Progress) => ({
  rows,
  failed: rowsDone(tally) - tally.outcomes.succeeded,
  cost: costUsd,
});
