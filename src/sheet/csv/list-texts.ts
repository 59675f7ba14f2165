// Decides which lines of a list continue the text above: indented ones, those directly below a bullet in a list that opens with one,
// and below the name of a speaker.

import { aloneName, spokenLine } from '../text/speakers.ts';
import { bulletIn, isIndented, withoutBullet } from './bullets.ts';

export class ListTexts {
  readonly #tags: string | undefined;
  /** The last line of the text above. */
  #end = -1;
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
    const isMarked = this.#isMark(line);
    this.#opensMarked ??= isMarked;
    const isBelow = this.#isBegun && (number === this.#end + 1 || this.#isNameAlone);
    const isOfMark = this.#isMarked && (this.#opensMarked || this.#tags === 'voices');
    const isFurther = isBelow && !isMarked && (isIndented(line) || isOfMark);
    if (!isFurther) this.#isMarked = isMarked;
    this.#isNameAlone = !isFurther && this.nameAlone(line) !== undefined;
    this.#isBegun = true;
    this.#end = number;
    return isFurther;
  }

  /** Takes a line that is left out. Speakers go on behind a stage direction. */
  leaveOut(line: string, number: number): void {
    if (this.#tags === 'voices' || (number === this.#end + 1 && isIndented(line))) this.#end = number;
    else this.#isBegun = false;
  }

  /** The name alone in a line, above the words of its speaker. */
  nameAlone(line: string): string | undefined {
    return this.#tags === 'voices' ? aloneName(withoutBullet(line)) : undefined;
  }

  #isMark(line: string): boolean {
    if (this.#tags === undefined || this.#tags === 'send') return false;
    if (bulletIn(line) !== undefined) return true;
    return this.#tags === 'voices' && (spokenLine(line) !== undefined || this.nameAlone(line) !== undefined);
  }
}
