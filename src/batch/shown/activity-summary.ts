// What Temporal's UI shows beside each activity. It is short: the server refuses more than 400 bytes with encryption, a refused
// command would block the workflow, and the id of the workflow takes up to 130 of them.

import { clipped } from '../../options/clipped.ts';
import type { Command } from '../commands.ts';
import { laneOf, numberOf } from '../state/lanes.ts';
import type { State } from '../state/state.ts';

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
      return `part ${command.part}: ${countOf(command.rows.length, 'row')}`;
    case 'poll':
      return `poll ${command.poll}: ${countOf(command.runs.length, 'run')}`;
    case 'reconcile':
      return `look for ${countOf(command.attempts.length, 'unconfirmed attempt')}`;
    case 'cancelRuns':
      return `cancel ${countOf(command.runs.length, 'run')}`;
    case 'notify':
      return `${command.notice.news} to ${command.notice.to}`;
    case 'loadPass':
      return `pass ${command.pass}`;
    case 'close':
      return `results of ${countOf(state.params.rows, 'row')}`;
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
  const what = areRows && lanes.length === 1 ? `rows ${span}` : countOf(attempts.length, 'row');
  const gpu = attempts[0]?.gpu ?? lanes[lane]?.gpu;
  return `${what} → ${countOf(attempts.length, 'run')}${gpu === undefined ? '' : ` on ${gpu}`}`;
}

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
