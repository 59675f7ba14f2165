// Finds lines on top of a list that are unlike all others, as titles and notes are: with a capital, without the end of a sentence, or
// before the only empty line.

import { isSentence } from './sample.ts';
import { NamedLines } from './named-lines.ts';

const MOST_NOTES = 3;
/** A list with fewer lines below its notes has no form of its own. */
const LEAST_TEXTS = 3;

export class TopNotes {
  readonly #top: { readonly text: string; readonly number: number }[] = [];
  #count = 0;
  #last = 0;
  #gaps = 0;
  /** How many lines stand before the first one that is small, ends a sentence, or follows an empty line. */
  #before: { small?: number; sentence?: number; gap?: number } = {};
  #small = 0;
  #sentences = 0;
  #words = 0;

  take(text: string, number: number): void {
    const [isSmall, isEnded] = [/^\P{L}*\p{Ll}/u.test(text), isSentence(text)];
    if (this.#count > 0 && number > this.#last + 1) {
      this.#gaps += 1;
      this.#before.gap ??= this.#count;
    }
    if (isSmall) this.#before.small ??= this.#count;
    if (isEnded) this.#before.sentence ??= this.#count;
    if (isSmall) this.#small += 1;
    if (isEnded) this.#sentences += 1;
    if (!/\S\s+\S/.test(text)) this.#words += 1;
    if (this.#top.length < MOST_NOTES) this.#top.push({ text, number });
    this.#count += 1;
    this.#last = number;
  }

  /** Takes a line that is no text, and no empty line either. */
  leaveOut(number: number): void {
    if (this.#last === number - 1) this.#last = number;
  }

  /** The lines; undefined if there are none. */
  get lines(): NamedLines | undefined {
    const { small = 0, sentence = 0, gap = 0 } = this.#before;
    const isTop = (before: number, further: number): boolean =>
      before > 0 && before <= MOST_NOTES && further >= LEAST_TEXTS && further === this.#count - before;
    // A sorted list of single words begins with those that have a capital.
    const areTexts = this.#words * 2 <= this.#count;
    const before =
      areTexts && isTop(small, this.#small)
        ? small
        : areTexts && isTop(sentence, this.#sentences)
          ? sentence
          : isTop(gap, this.#gaps === 1 ? this.#count - gap : 0)
            ? gap
            : 0;
    const lines = new NamedLines();
    for (const { text, number } of this.#top.slice(0, before)) lines.put(number, text);
    return before === 0 ? undefined : lines;
  }
}
