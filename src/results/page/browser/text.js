// Numbers, times and words as people read them.

const counting = new Intl.NumberFormat('en');

/** @param {number} value */
export const count = (value) => counting.format(value);

/** No more digits than are known. @param {number} value */
export const rough = (value) => count(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);

/** @type {(times: number, word: string) => string} */
export const plural = (times, word) => `${count(times)} ${word}${times === 1 ? '' : 's'}`;

/** @param {number} usd */
export function money(usd) {
  if (usd < 0.000_05) return usd === 0 ? '$0' : '<$0.0001';
  if (usd >= 1_000) return `$${count(Math.round(usd))}`;
  return `$${usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** GPUs of one's own have no price. @param {number} usd */
export const ifPaid = (usd) => (usd > 0 ? money(usd) : '');

/** @param {number} seconds */
export function span(seconds) {
  if (seconds > 0 && seconds < 0.1) return `${Math.ceil(seconds * 1_000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** @param {string | number | Date} time */
export const dateOf = (time) =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A word of a shell command. @param {string} text */
const shellWord = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Rows, which are sorted, as `retry --row` takes them: `3,17-40`. @param {readonly number[]} rows */
function rowRanges(rows) {
  const starts = rows.filter((row, at) => rows[at - 1] !== row - 1);
  const ends = rows.filter((row, at) => rows[at + 1] !== row + 1);
  const pairs = starts.map((from, at) => new Set([from + 1, (ends[at] ?? 0) + 1]));
  return pairs.map((pair) => [...pair].join('-')).join(',');
}

/** Nothing that a viewer types is badly encoded. @param {string} text */
export const decoded = (text) =>
  new URLSearchParams(`=${text.replaceAll(/[+&]/g, encodeURIComponent)}`).get('') ?? '';

/** A cell of CSV. @param {string} text */
export const csvCell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** What a row took. @param {{ outcome: string, gpu: string, seconds: number, cost: number, attempts: number }} row */
export const factsText = ({ outcome, gpu, seconds, cost, attempts }) =>
  joined([
    outcome === 'succeeded' ? '' : outcome,
    gpu,
    seconds > 0 ? span(seconds) : '',
    ifPaid(cost),
    attempts > 1 ? `${attempts} attempts` : '',
  ]);

/** Facts beside each other, without those that are not known. @param {readonly (string | undefined)[]} facts */
export const joined = (facts, between = ' · ') => facts.filter(Boolean).join(between);

// Commands as this user can give them: as the program was called, and with the folder in which the batch is now.

/** @typedef {{ batch: string, program: string, out?: string | undefined }} Called `out`: where the batches are, if the page does not know it */

/** A page that was opened from its folder knows where it is. @type {(command: string, out?: string) => string} */
export function placed(command, out) {
  const folder = decoded(location.pathname).split('/').slice(0, -2).join('/');
  const place = location.protocol === 'file:' ? folder.replace(/^\/(?=[A-Za-z]:)/, '') || '/' : out;
  return joined([command, place && `--out ${shellWord(place)}`], ' ');
}

/** @type {(called: Called, verb: string, more?: string) => string} */
export const commandOf = ({ batch, program, out }, verb, more = '') =>
  joined([placed(`${program} ${verb} ${shellWord(batch)}`, out), more], ' ');

/** Sends rows, from 0, that have this outcome again. @type {(called: Called, rows: readonly number[], outcome: string) => string} */
export function retryOf(called, rows, outcome) {
  const which = /^(failed|timed-out)$/.test(outcome) ? '' : ` --outcome ${outcome}`;
  return commandOf(called, 'retry', `--row ${rowRanges(rows)}${which}`);
}

/** A text with commands, with the program's name as it was called. @type {(text: string, program: string) => string} */
export const asCalled = (text, program) => text.replaceAll(/(?<![\w./-])runsheet(?= [a-z])/g, () => program);
