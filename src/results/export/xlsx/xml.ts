// Text inside XML, as spreadsheets expect it.

/** Characters that a cell may have. */
export const CELL_CHARACTERS = 32_767;

/** What XML 1.0 cannot contain. A lone surrogate is replaced before. */
// eslint-disable-next-line no-control-regex
const ILLEGAL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const xmlText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(ILLEGAL, '')
    .replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);

/** Text that a spreadsheet would read as an escaped character. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

/** The text of a cell. XML turns a carriage return into a line feed, so it is escaped as spreadsheets do. */
export const cellXml = (text: string): string =>
  PLAIN.test(text) ? text : xmlText(text.replaceAll(LOOKS_ESCAPED, '_x005F_')).replaceAll('\r', '_x000D_');

/** Most cells, which stay as they are. */
const PLAIN = /^[ !#-%'-;=?-^`-~\u00A0-\uD7FF\n]*$/;

export const isTooLong = (text: string): boolean => text.length > CELL_CHARACTERS;

/** The beginning of a text, never with half a character at its end. */
export const cut = (text: string): string =>
  isTooLong(text) ? text.slice(0, CELL_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '') : text;

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
