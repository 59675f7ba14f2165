// Finds heads of texts in a list: lines such as `Prompt 1`, `Prompt 2` or `1`, `2` that count up, each above a text.

import { plainName } from './guess.ts';

/** The word, if any, and the number; a title may stand behind both. */
const HEAD = /^(?:(\p{L}[\p{L}\p{M}\s.-]*)?#?(\d{1,4})|(\p{L}+)\s*#?(\d{1,4})\s*[-–—]\s*\S.*)$/u;

/** Letters of a head. */
const MAX_HEAD = 60;

/** Heads that wait for the next ones. */
const MAX_HEADS = 1000;

type PossibleHead = {
  readonly line: string;
  readonly number: number;
  readonly of: string;
  readonly nth: number;
};

export class NumberedHeads {
  readonly lines: PossibleHead[] = [];
  /** Heads without a text, by their words. */
  readonly #idle = new Set<string>();
  #last: PossibleHead | undefined;
  #above: PossibleHead | undefined;
  /** Heads with several lines below. */
  readonly #several = new Set<PossibleHead>();

  /** Takes a line that may be a head; the others are texts. */
  take(line: string, number: number): boolean {
    const head = this.lines.length < MAX_HEADS ? headIn(line, number) : undefined;
    if (head === undefined) {
      if (this.#last === undefined && this.#above !== undefined) this.#several.add(this.#above);
      this.#last = undefined;
      return false;
    }
    // Two lines that count up with nothing between them are texts.
    if (this.#last !== undefined) this.#idle.add(this.#last.of);
    this.#last = head;
    this.#above = head;
    this.lines.push(head);
    return true;
  }

  /** The number of heads above several lines, each of which is a text of its own. */
  get several(): number {
    return [...this.#several].filter((head) => this.isHead(head)).length;
  }

  /** Whether the line counts up from 1 with the others of its word. */
  isHead({ of }: PossibleHead): boolean {
    const counted = this.lines.filter((head) => head.of === of);
    return (
      counted.length > 1 &&
      !this.#idle.has(of) &&
      this.#last?.of !== of &&
      counted.every(({ nth }, at) => nth === at + 1)
    );
  }
}

/** A line that begins with `#` is a comment. */
function headIn(line: string, number: number): PossibleHead | undefined {
  if (line.length > MAX_HEAD || line.trim().startsWith('#')) return undefined;
  const bare = line.replaceAll(/^[^\p{L}\d]+|[^\p{L}\d]+$/gu, '');
  const [whole, word, nth, titled = '', nthTitled] = HEAD.exec(bare) ?? [];
  const of = plainName(word ?? titled);
  return whole === undefined ? undefined : { line, number, of, nth: Number(nth ?? nthTitled) };
}
