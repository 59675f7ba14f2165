// Finds lines without the mark that most lines of a list have: the command of Midjourney, or its parameters at the end. Among prompts,
// they are headings, notes and advice.

import { withoutBullet } from '../csv/bullets.ts';
import { isCommand, endsWithParameters } from '../trade/midjourney.ts';
import { NamedLines } from './named-lines.ts';

const LEAST_MARKED = 2;

/** A mark, the number of lines that have it, and the lines without it. */
type Mark = {
  readonly has: (text: string) => boolean;
  /** Lines with the mark for each line without it, at least. */
  readonly share: number;
  readonly text: string;
  readonly without: NamedLines;
  marked: number;
};

export class LineMarks {
  readonly #marks: readonly Mark[] = [
    { has: isCommand, share: 1, text: 'begin with /imagine', without: new NamedLines(), marked: 0 },
    // A prompt may do without parameters more often than without the command.
    { has: endsWithParameters, share: 2, text: 'end with parameters', without: new NamedLines(), marked: 0 },
  ];

  take(line: string, number: number): void {
    const text = withoutBullet(line);
    for (const mark of this.#marks)
      if (mark.has(text)) mark.marked += 1;
      else mark.without.put(number, line);
  }

  /** The lines that lack the mark of the others, and what the others do; undefined if there are none. */
  get unlike(): { readonly lines: NamedLines; readonly text: string } | undefined {
    const mark = this.#marks.find(
      ({ marked, without, share }) =>
        without.count > 0 && marked >= LEAST_MARKED && marked > without.count * share,
    );
    return mark && { lines: mark.without, text: mark.text };
  }
}
