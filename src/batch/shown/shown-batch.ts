// The texts that Temporal's UI shows of a batch from its start on.

import { clipped, clippedAtWord } from '../../options/text/clipped.ts';
import { count, money, plural, usdOf } from '../../options/text/printed-numbers.ts';
import { rowsDone } from '../accounting/tally.ts';
import type { Command } from '../commands.ts';
import { laneOf, numberOf } from '../state/lanes.ts';
import type { State } from '../state/state.ts';
import type { Progress } from './progress.ts';
import type { SearchedBatch } from './search-attributes.ts';

/** A summary line and Markdown, both encrypted like all payloads; and search attributes, which are never encrypted. */
export type ShownBatch = {
  readonly summary: string;
  readonly details: string;
  readonly search: SearchedBatch;
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

/** Escapes names of sheets and deployments, which are no Markdown. */
const cell = (text: string): string => text.slice(0, 500).replaceAll(/[\\`*_[\]<>|\n\r]/g, String.raw`\$&`);

/**
 * The longest summary that Temporal's UI shows beside an activity. With encryption the server refuses more than 400
 * bytes, a refused command would block the workflow, and the workflow id takes up to 130 of them.
 */
export const SUMMARY_BYTES = 60;

type NamedState = Pick<State, 'params' | 'lanes'>;

/** undefined for a command without an activity. */
export function activitySummary(state: NamedState, command: Command): string | undefined {
  const text = textOf(state, command);
  return text === undefined ? undefined : clipped(text, SUMMARY_BYTES);
}

function textOf(state: NamedState, command: Command): string | undefined {
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

/**
 * `rows 33–64 → 32 runs on A10G`. Places are rows only in a batch without a queue; otherwise their numbers would mean
 * nothing to people.
 */
function sendText({ params, lanes }: NamedState, { attempts }: Extract<Command, { type: 'send' }>): string {
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
  `${money(costUsd)}${maxCostNano === undefined ? '' : ` of ${money(usdOf(maxCostNano))}`}`;

function stateText({ state }: Progress, bad: number): string {
  return bad === 0 ? state : `${state}, ${plural(bad, 'row')} without success`;
}

function pausesOf({ pauses, batch }: Progress): readonly string[] {
  if (pauses.length === 0) return [];
  const lines = pauses.map(({ kind, reason }) => `- paused (${kind}): ${plain(reason)}`);
  return ['', ...lines, '', `\`runsheet status ${batch}\` says what to do.`];
}

/** Escapes text of the service, which is no Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, String.raw`\$&`).replaceAll(/\s+/g, ' ');
