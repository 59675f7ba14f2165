// Finds the lines of a list that stand below a heading of notes: advice, modifiers, unwanted words, and texts that were rejected.

import { bulletIn } from '../csv/bullets.ts';
import { isSigned } from './comment-lines.ts';
import { NamedLines } from './named-lines.ts';

const MAX_HEAD = 80;

/** Words of headings below which no texts stand that are to be sent. */
const NOTES =
  /(?<![\p{L}])(?:notes?|nota|tips?|hints?|instructions?|usage|how to|guidelines?|reminders?|modifiers?|parameters?|negative|rejected|unused|archived?|deprecated|do not use|hinweise?|tipps?|anmerkung(?:en)?|anleitung|notizen|verworfen|archiv|remarques?|conseils?|notas|consejos?|instrucciones|consigli|suggerimenti|opmerkingen)(?![\p{L}])|注意|备注|備考|提示|ヒント|メモ/iu;

/** Whether the line is a heading: a comment, or words of their own that end with a colon or are bold. */
function isHead(line: string): boolean {
  const text = line.trim();
  if (text.length > MAX_HEAD || bulletIn(text) !== undefined) return false;
  return isSigned(text) || /^[^:]*:\W*$/.test(text) || /^(?:\*\*|__|=+ ?)[^*_=]+(?:\*\*|__| ?=+)$/.test(text);
}

type Section = { readonly heading: string; readonly isComment: boolean; readonly lines: NamedLines };

export class NoteSections {
  readonly #sections: Section[] = [];
  #section: Section | undefined;
  #last = 0;
  #texts = 0;

  /** Takes a filled line; lines between two of them are empty. */
  take(line: string, number: number): void {
    const isApart = number > this.#last + 1;
    this.#last = number;
    if (isHead(line)) {
      this.#section = NOTES.test(line)
        ? { heading: line.trim(), isComment: isSigned(line), lines: new NamedLines() }
        : undefined;
      if (this.#section !== undefined) this.#sections.push(this.#section);
      return;
    }
    this.#texts += 1;
    // An empty line ends what stands below a heading without a sign.
    if (this.#section?.isComment === false && isApart && this.#section.lines.count > 0)
      this.#section = undefined;
    this.#section?.lines.put(number, line);
  }

  /** The headings with their lines. A heading above half of the lines or more is the title of the list. */
  get belowNotes(): readonly Pick<Section, 'heading' | 'lines'>[] {
    return this.#sections.filter(({ lines }) => lines.count > 0 && lines.count * 2 < this.#texts);
  }
}
