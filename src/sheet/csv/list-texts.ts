// Decides which lines of a list continue the text above: indented ones, those directly below a bullet in a list that opens with one,
// those below the name of a speaker, and all of a paragraph.

import { isWithoutBullets } from '../text/plain-text.ts';
import { aloneName, nameInCapitals, spokenLine } from '../text/speakers.ts';
import { bulletIn, isIndented, withoutBullet } from './bullets.ts';

export class ListTexts {
  readonly #tags: string | undefined;
  /** The last line of the text above. */
  #end = -1;
  /** The last line of all, even if it is left out. */
  #last = -1;
  /** The name alone in the line that begins the text. */
  name: string | undefined;
  #isBegun = false;
  #isMarked = false;
  #isNameAlone = false;
  /** Whether the first text has a mark; otherwise a line without one may be a heading. */
  #opensMarked: boolean | undefined;

  /** `tags`: those that are left out of the texts mark their beginnings. */
  constructor(tags: string | undefined) {
    this.#tags = tags;
  }

  /** Takes a line, and says whether it continues the text above. */
  continues(line: string, number: number): boolean {
    const name = this.#nameIn(line, number);
    const isMarked = name !== undefined || this.#isMark(line);
    this.#opensMarked ??= isMarked;
    const isBelow = this.#isBegun && (number === this.#end + 1 || this.#isNameAlone);
    const isOfMark = this.#isMarked && (this.#opensMarked || this.#tags === 'voices');
    const isFurther = isBelow && !isMarked && (isIndented(line) || isOfMark || this.#tags === 'paragraphs');
    if (!isFurther) [this.#isMarked, this.name] = [isMarked, name];
    // The words below a name in capitals stand directly below it.
    this.#isNameAlone = !isFurther && name !== undefined && aloneName(withoutBullet(line)) !== undefined;
    this.#isBegun = true;
    this.#end = this.#last = number;
    return isFurther;
  }

  /** Takes a line that is left out. Speakers go on after a stage direction. */
  leaveOut(line: string, number: number): void {
    this.#last = number;
    if (this.#tags === 'voices' || (number === this.#end + 1 && isIndented(line))) this.#end = number;
    else this.#isBegun = false;
  }

  /** The name alone in a line, above the words of its speaker. */
  #nameIn(line: string, number: number): string | undefined {
    if (this.#tags !== 'voices') return undefined;
    const isFirst = number !== this.#last + 1;
    return aloneName(withoutBullet(line)) ?? (isFirst ? nameInCapitals(line) : undefined);
  }

  #isMark(line: string): boolean {
    if (!isWithoutBullets(this.#tags) && this.#tags !== 'voices') return false;
    return bulletIn(line) !== undefined || (this.#tags === 'voices' && spokenLine(line) !== undefined);
  }
}

/** A word that a hyphen divides at the end of a line, and its rest. */
const DIVIDED = /(?<=\p{Ll})-$/u;

/** Joins a line to the text above, and a word that is divided between both. */
export const joinedLine = (text: string, line: string): string =>
  isDivided(text, line) ? text.replace(DIVIDED, '') + line.trim() : `${text} ${line.trim()}`;

export const isDivided = (text: string, line: string): boolean =>
  DIVIDED.test(text) && /^\s*\p{Ll}/u.test(line);
