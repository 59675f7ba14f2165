// The XML that all files of a workbook share: the declaration, relations between files, and escaped text.

import { markupText } from '../../../errors/outside-text.ts';

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
export const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

type Relation = {
  readonly id: string;
  readonly type: string;
  readonly target: string;
  readonly isExternal?: boolean;
};

export const relation = (id: string, type: string, target: string): Relation => ({ id, type, target });

export const relationsXml = (relations: readonly Relation[]): string =>
  `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">${relations
    .map(
      ({ id, type, target, isExternal }) =>
        `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"${isExternal ? ' TargetMode="External"' : ''}/>`,
    )
    .join('')}</Relationships>`;

export const CELL_CHARACTERS = 32_767;

/** Characters that XML 1.0 cannot contain. Lone surrogates were replaced already. */
// eslint-disable-next-line no-control-regex
const ILLEGAL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

export const xmlText = (text: string): string => markupText(text.toWellFormed().replaceAll(ILLEGAL, ''));

/** Text that a spreadsheet would read as an escaped character. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

/** The text of a cell. XML turns a carriage return into a line feed, so it is escaped as spreadsheets do. */
export const cellXml = (text: string): string =>
  PLAIN.test(text) ? text : xmlText(text.replaceAll(LOOKS_ESCAPED, '_x005F_')).replaceAll('\r', '_x000D_');

/** Text that needs no escaping, like that of most cells. */
const PLAIN = /^[ !#-%'-;=?-^`-~\u00A0-\uD7FF\n]*$/;

export const isTooLong = (text: string): boolean => text.length > CELL_CHARACTERS;

/** The longest beginning of a text that a cell can hold, without half a surrogate pair at its end. */
export const cut = (text: string): string =>
  isTooLong(text) ? text.slice(0, CELL_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '') : text;
