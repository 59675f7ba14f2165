// Finds heads of texts in a list: lines such as `Prompt 1`, `Prompt 2` or `1`, `2` that count up, each above a text.

import { isIndented } from '../csv/bullets.ts';
import { plainName } from './guess.ts';

/** The word, if any, and the number; a title may follow both. */
const HEAD = /^(?:(\p{L}[\p{L}\p{M}\s.-]*)?#?(\d{1,4})|(\p{L}+)\s*#?(\d{1,4})\s*[-–—]\s*\S.*)$/u;

/** Letters of a head. */
const MAX_HEAD = 60;

/** Heads that wait for the next ones. */
const MAX_HEADS = 1000;

/** `of`: its word; `texts`: the number of lines below. */
type PossibleHead = {
  readonly line: string;
  readonly number: number;
  readonly of: string;
  readonly nth: number;
  texts: number;
};

export class NumberedHeads {
  readonly lines: PossibleHead[] = [];

  /** Takes a line that may be a head; the others are texts. */
  take(line: string, number: number): boolean {
    const head = this.lines.length < MAX_HEADS ? headIn(line, number) : undefined;
    const above = this.lines.at(-1);
    if (head !== undefined) this.lines.push(head);
    else if (above !== undefined && !(above.texts > 0 && isIndented(line))) above.texts += 1;
    return head !== undefined;
  }

  /** The number of heads above several lines whose texts stand alone. */
  get several(): number {
    return this.lines.filter((head) => head.texts > 1 && this.isHead(head)).length;
  }

  /** Whether the line counts up from 1 with the others of its word, and a text stands below each. */
  isHead({ of }: PossibleHead): boolean {
    const counted = this.lines.filter((head) => head.of === of);
    return counted.length > 1 && counted.every(({ nth, texts }, at) => nth === at + 1 && texts > 0);
  }
}

/** A line that begins with `#` is a comment. */
function headIn(line: string, number: number): PossibleHead | undefined {
  if (line.length > MAX_HEAD || line.trim().startsWith('#')) return undefined;
  const bare = line.replaceAll(/^[^\p{L}\d]+|[^\p{L}\d]+$/gu, '');
  const [whole, word, nth, titled = '', nthTitled] = HEAD.exec(bare) ?? [];
  const of = plainName(word ?? titled);
  return whole === undefined ? undefined : { line, number, of, nth: Number(nth ?? nthTitled), texts: 0 };
}
