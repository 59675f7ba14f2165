// Recognises rows and lines that begin with the sign of a comment, and are none of the values that begin so too.

import { isErrorWord } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';

const SIGN = /^\s*(?:#|\/\/)/;
const HEX_COLOUR = /^#(?:[0-9a-f]{3}){1,2}(?:[0-9a-f]{2})?$/i;

export const isSigned = (text: string): boolean => SIGN.test(text);

/** Whether a text with the sign is a value: a colour, or an error of a spreadsheet. */
export const isSignedValue = (text: string): boolean => isErrorWord(text) || HEX_COLOUR.test(text);

/** Whether a line of a list is a comment. If most lines begin with the sign, it is part of their texts. */
export async function commentsAmong(
  lines: AsyncIterable<readonly [number: number, line: string]>,
  { comment }: SheetOptions,
): Promise<(line: string) => boolean> {
  if (comment === 'none') return () => false;
  if (comment !== undefined) return (line) => line.startsWith(comment);
  let [comments, texts] = [0, 0];
  for await (const [, line] of lines)
    if (isComment(line)) comments += 1;
    else texts += 1;
  return comments > texts ? () => false : isComment;
}

/** A line of `###` separates texts. */
const isComment = (line: string): boolean =>
  isSigned(line) && /\p{L}/u.test(line) && !isSignedValue(line.trim());
