// Escapes untrusted text (run service, file hosts, cells, errors) for each place that could interpret it: terminal,
// spreadsheet, HTML page, file name, JSON on a terminal. JSON values stay exact.

import { hash } from 'node:crypto';

/** Terminal control characters and line breaks. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Invisible characters that hide or reorder text: bidi controls, zero-width characters, tags. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]+/gu;
const EITHER = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;

/** The visible characters of a text, as one line. */
export const terminalLine = (text: string): string =>
  text.replaceAll(CONTROLS, ' ').replaceAll(INVISIBLE, '').toWellFormed();

/** Like {@link terminalLine}, for text of several lines. */
export const terminalLines = (text: string): string => text.split('\n').map(terminalLine).join('\n');

const COLOUR = new RegExp(`(${String.fromCharCode(27)}\\[[\\d;]*m)`);

/** Lines for a terminal: removes all control sequences except colours. */
export const paintedLines = (text: string): string =>
  text
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 ? part : terminalLines(part)))
    .join('');

/** A line of a file, with a mark for each invisible character, so that columns stay correct. */
export const markedLine = (text: string): string =>
  text.replaceAll(EITHER, (sign) => (sign === '\t' ? sign : '\uFFFD')).toWellFormed();

/** Cells that a spreadsheet treats as formulas; some languages also accept the wide characters. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/u;

/** A cell with untrusted text. The CSV writer quotes it. */
export const csvCell = (text: string): string => harmless(terminalLine(text));

/** Like {@link csvCell}, for text of several lines. */
export const csvLines = (text: string): string => harmless(terminalLines(text));

const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Quotes a word for a shell command. Line breaks and invisible signs are escaped in a form that bash and zsh read. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (text.search(EITHER) === -1) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escapes = text
    .replaceAll(/['\\]/g, String.raw`\$&`)
    .replaceAll(EITHER, (sign) =>
      [...Buffer.from(sign)].map((byte) => String.raw`\x${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  return `$'${escapes}'`;
}

/** Text inside an element or a quoted attribute of HTML or XML. */
export const markupText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** JSON for a script element; no text in it can close the element. */
export const htmlJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`);

/** undefined for text that is no JSON. */
export function jsonIn(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Equivalent JSON without terminal control characters, most of which `JSON.stringify` does not escape. */
export const terminalJson = (json: string): string =>
  json.replaceAll(EITHER, (sign) => (sign === '\n' ? sign : escaped(sign)));

const escaped = (sign: string): string =>
  Array.from({ length: sign.length }, (_, at) => String.raw`\u${hexOf(sign.charCodeAt(at))}`).join('');
const hexOf = (code: number): string => code.toString(16).padStart(4, '0');

const PLAIN = /^[a-z0-9][a-z0-9_-]{0,79}$/;
const RESERVED_BY_WINDOWS = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
// Generated names end like this, so a text that does, too, is never used unchanged.
const MADE = /-[0-9a-f]{16}$/;
const MAX_SLUG = 48;

/** The name of a file or folder: safe on every file system, and unique even where case is ignored; at most 80 characters. */
export function fileName(text: string): string {
  return PLAIN.test(text) && !RESERVED_BY_WINDOWS.test(text) && !MADE.test(text) ? text : hashedName(text);
}

/** Like {@link fileName}, but always with a hash of the text. */
export function hashedName(text: string): string {
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-|-$/g, '');
  return `${slug || 'key'}-${hash('sha256', text, 'hex').slice(0, 16)}`;
}

/** Cuts a text to `most` characters. Remove secrets first: a cut secret would not be recognised. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
