// Names the rows that are refused, each by its key and with its reason.

import { terminalLine } from '../../errors/outside-text.ts';
import type { RefusedRow, RefusedRows } from '../../sheet/refused-rows.ts';
import { count, plural } from '../../options/text/printed-numbers.ts';

const MAX_SHOWN = 5;

/** `            copper-pan: E210: "pan.png" in column "image" is …` */
export function refusedLines({ rows, first }: RefusedRows): readonly string[] {
  const shown = first.slice(0, MAX_SHOWN);
  const more = rows - shown.length;
  return [
    ...shown.map((row) => `            ${refusedText(row)}`),
    ...(shown.length > 0 && more > 0 ? [`            … and ${count(more)} more`] : []),
  ];
}

const refusedText = ({ key, reason }: RefusedRow): string => terminalLine(`${key}: ${reason}`);

/** The rows that a batch names but does not send, before it is made. */
export const unreadLines = (refused: RefusedRows | undefined): readonly string[] =>
  refused === undefined
    ? []
    : [
        `  refused   ${plural(refused.rows, 'row')} cannot be read and ${refused.rows === 1 ? 'is' : 'are'} not sent (--invalid skip):`,
        ...refusedLines(refused),
      ];
