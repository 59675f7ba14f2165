// Commands as this user can give them: as the program was called, and with the folder in which the batch is now.

import { decoded, joined } from './text.ts';

/** A word of a shell command. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Sorted rows as `retry --row` takes them: `3,17-40`. */
function rowRanges(rows: readonly number[]): string {
  const starts = rows.filter((row, at) => rows[at - 1] !== row - 1);
  const ends = rows.filter((row, at) => rows[at + 1] !== row + 1);
  const pairs = starts.map((from, at) => new Set([from + 1, (ends[at] ?? 0) + 1]));
  return pairs.map((pair) => [...pair].join('-')).join(',');
}

/** `out`: the folder of the batches, if the page does not know it. */
type BatchCommand = { batch: string; program: string; out?: string | undefined };

/** A page that was opened from its folder knows where it is. */
export function placed(command: string, out?: string): string {
  const folder = decoded(location.pathname).split('/').slice(0, -2).join('/');
  const place = location.protocol === 'file:' ? folder.replace(/^\/(?=[A-Za-z]:)/, '') || '/' : out;
  return joined([command, place && `--out ${shellWord(place)}`], ' ');
}

export const commandOf = ({ batch, program, out }: BatchCommand, verb: string, more = ''): string =>
  joined([placed(`${program} ${verb} ${shellWord(batch)}`, out), more], ' ');

/** The command that sends rows, counted from 0, with this outcome again. */
export function retryOf(batch: BatchCommand, rows: readonly number[], outcome: string): string {
  const which = /^(failed|timed-out)$/.test(outcome) ? '' : ` --outcome ${outcome}`;
  return commandOf(batch, 'retry', `--row ${rowRanges(rows)}${which}`);
}

/** Names the program in the commands of a text as the user called it. */
export const asCalled = (text: string, program: string): string =>
  text.replaceAll(/(?<![\w./-])runsheet(?= [a-z])/g, () => program);
