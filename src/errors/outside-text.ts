// Text from outside (the run service, file hosts, cells, errors) at the borders where something could obey it. Each border
// has one function here: a terminal, a spreadsheet, a page, a file name, JSON on a terminal. JSON values stay exact.

import { hash } from 'node:crypto';

/** A terminal obeys these, or begins a new line. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Characters without a shape, which hide or reorder the text beside them: bidi controls, zero-width characters, tags. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]+/gu;
const EITHER = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;

/** One line of a terminal, or words of the service in a page: what can be seen of the text, in the order it is in. */
export const terminalLine = (text: string): string =>
  text.replaceAll(CONTROLS, ' ').replaceAll(INVISIBLE, '').toWellFormed();

/** The same for text of several lines. */
export const terminalLines = (text: string): string => text.split('\n').map(terminalLine).join('\n');

const COLOUR = new RegExp(`(${String.fromCharCode(27)}\\[[\\d;]*m)`);

/** Lines with colours of ours, as the last thing before a terminal: whatever else it would obey is taken out. */
export const paintedLines = (text: string): string =>
  text
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 ? part : terminalLines(part)))
    .join('');

/** A line as it stands in a file, with a mark for each character that cannot be shown, so that columns still count. */
export const markedLine = (text: string): string =>
  text.replaceAll(EITHER, (sign) => (sign === '\t' ? sign : '\uFFFD')).toWellFormed();

/** A spreadsheet takes a cell that begins with one of these for a formula; the wide ones count in some languages. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/u;

/** A cell that is not the user's own. Quoting is left to whoever writes the file. */
export function csvCell(text: string): string {
  const line = terminalLine(text);
  return FORMULA.test(line) ? `'${line}` : line;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text inside an element or a quoted attribute. */
export const htmlText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** A value as JSON inside a script element, which no text in it can close. */
export const htmlJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`);

/** JSON that means the same, in which a terminal finds nothing to obey: `JSON.stringify` leaves most of it as it is. */
export const terminalJson = (json: string): string =>
  json.replaceAll(EITHER, (sign) => (sign === '\n' ? sign : escaped(sign)));

const escaped = (sign: string): string =>
  Array.from({ length: sign.length }, (_, at) => String.raw`\u${hexOf(sign.charCodeAt(at))}`).join('');
const hexOf = (code: number): string => code.toString(16).padStart(4, '0');

const PLAIN = /^[a-z0-9][a-z0-9_-]{0,79}$/;
const RESERVED_BY_WINDOWS = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
// Names that end so are made here, and no text may be one of them by chance.
const MADE = /-[0-9a-f]{16}$/;
const MOST_SLUG = 48;

/** The name of a file or folder: safe on every file system, and unique also where case is ignored; at most 80 characters. */
export function fileName(text: string): string {
  if (PLAIN.test(text) && !RESERVED_BY_WINDOWS.test(text) && !MADE.test(text)) return text;
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MOST_SLUG)
    .replace(/^-|-$/g, '');
  return `${slug || 'key'}-${hash('sha256', text, 'hex').slice(0, 16)}`;
}

/** The text, or so much of it as fits into `most` characters. Secrets are struck out before: half of one is not known. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
