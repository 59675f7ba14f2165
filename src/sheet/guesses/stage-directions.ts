// Finds lines that are no texts: `[pause]`, `(laughs)`, `♪`, `* * *`, and the name of a speaker alone in its line.

import { withoutBullet } from '../csv/bullets.ts';
import { isNameAlone } from '../text/speakers.ts';
import { NamedLines } from './named-lines.ts';

const DIRECTION =
  /^(?:[[(【（][^[\](){}【】（）]{1,60}[\])】）][.!]?|\*[^*\s][^*]{0,60}\*|[♪♫\s]*[♪♫][♪♫\s]*)$/u;

const MAX_WORDS = 8;

/** A line between texts, as in `* * *`, `---` and `###`, and the number of a page: `– 12 –`, `Page 12 of 40`. */
const RULE =
  /^(?:[-=*_~#•·–—⁂]\s*){3,}$|^⁂$|^[-–—]\s*\d{1,4}\s*[-–—]$|^\p{Lu}\p{L}*\.? \d{1,4} \p{L}{2,3} \d{1,4}$/u;

/** A text that is struck out, even after a bullet, and a footnote. */
const NO_TEXT = /^(?:[-*+•]\s+)?~~[^~]+~~[.,;]?$|^\[\d{1,3}\]\s/u;

/** Credits, in which a line is an address. */
const CREDITS = /^(?:www\.|https?:\/\/)\S+$/m;

/** Whether the text says what happens, or is struck out. */
export const isDirection = (text: string): boolean =>
  NO_TEXT.test(text) ||
  ((DIRECTION.test(text) || CREDITS.test(text)) && text.split(/\s+/).length <= MAX_WORDS);

/** The texts among the cells of a column; all of them if most look like directions. */
export function textsAmong(cells: readonly string[]): readonly string[] {
  const texts = cells.filter((text) => !isDirection(text.trim()));
  return texts.length * 2 < cells.length ? cells : texts;
}

export class StageDirections {
  readonly lines = new NamedLines();
  readonly #isOfNames: boolean;
  #texts = 0;
  #rules = 0;

  /** `isOfNames`: a name alone on its line is not a direction; the speaker's text follows. */
  constructor(isOfNames = false) {
    this.#isOfNames = isOfNames;
  }

  /** Takes a line; true if it is a direction. `isUnspoken`: it is one although it looks like a text. */
  take(text: string, line: number, isUnspoken = false): boolean {
    const bare = text.trim();
    const isBetween = RULE.test(bare);
    const isOut = isUnspoken || isDirection(bare) || isDirection(withoutBullet(bare));
    if (isBetween) this.#rules += 1;
    else if (!isOut && (this.#isOfNames || !isNameAlone(bare))) {
      this.#texts += 1;
      return false;
    }
    this.lines.put(line, bare);
    return true;
  }

  /** Takes a line that is a head, not a text. */
  takeHead(text: string, line: number): void {
    this.#rules += 1;
    this.lines.put(line, text.trim());
  }

  /** Whether there are some. If most lines look like directions, they are texts in brackets. */
  get areSome(): boolean {
    return this.lines.count > 0 && this.lines.count - this.#rules <= this.#texts;
  }

  /** A sentence about them. */
  textIf(areLeftOut: boolean): string {
    const { count, text } = this.lines;
    const what = areLeftOut ? 'left out' : 'sent';
    return count === 1
      ? `${text} is not a text, and is ${what}`
      : `${count} lines are no texts, and are ${what}: ${text}`;
  }
}
