// Finds paragraphs whose lines a program has broken, in a list whose lines would be texts of their own.

import { isDivided, joinedLine } from '../csv/list-texts.ts';

const MAX_WORDS = 5;
/** Lines that are shorter end by themselves. */
const MIN_BROKEN = 24;

const SENTENCE_END = /[.!?…:]["'”’“»)\]]*$/u;
const NEXT_SENTENCE = /[.!?…]["'”’“»)]*\s+["'“„«(]*\p{Lu}/u;
const beginsSmall = (line: string): boolean => /^\P{L}*\p{Ll}/u.test(line);

export class WrappedLines {
  /** Words that a hyphen divides, as they are joined. */
  readonly divided: string[] = [];
  #above = { text: '', line: -1 };
  #paragraphs = 0;
  #further = 0;
  /** Lines that go on in the middle of a sentence. */
  #goingOn = 0;
  /** Paragraphs that begin with a small letter. */
  #small = 0;
  /** Lines that end with a comma within a paragraph, and at its end. */
  #commas = 0;
  #lastCommas = 0;
  #hasSentences = false;

  take(line: string, number: number): void {
    const { text, line: above } = this.#above;
    if (number === above + 1) this.#takeFurther(text, line);
    else {
      this.#paragraphs += 1;
      if (text.endsWith(',')) this.#lastCommas += 1;
      if (beginsSmall(line)) this.#small += 1;
    }
    this.#hasSentences ||= NEXT_SENTENCE.test(line);
    this.#above = { text: line.trim(), line: number };
  }

  #takeFurther(text: string, line: string): void {
    this.#further += 1;
    if (text.endsWith(',') && beginsSmall(line)) this.#commas += 1;
    if (isDivided(text, line)) {
      if (this.divided.length < MAX_WORDS)
        this.divided.push(joinedLine(/\S+$/.exec(text)?.[0] ?? '', /\S+/.exec(line)?.[0] ?? ''));
    } else if (beginsSmall(line) && text.length >= MIN_BROKEN && !SENTENCE_END.test(text)) this.#goingOn += 1;
  }

  /** Whether lines are parts of paragraphs. A list of prompts has one in each line, often without a capital, a full stop or an empty line. */
  get areParagraphs(): boolean {
    const isMost = (count: number): boolean => count > 0 && count * 2 >= this.#further;
    const isSeveral = this.#paragraphs > 1;
    const endsWithComma = this.#lastCommas > 0 || this.#above.text.endsWith(',');
    return (
      this.divided.length > 0 ||
      (isSeveral && isMost(this.#commas) && !endsWithComma) ||
      ((isSeveral || this.#hasSentences) && this.#small === 0 && isMost(this.#goingOn))
    );
  }
}
