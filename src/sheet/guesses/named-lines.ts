// Lines of a text that a question names, each with its words.

import { shortened } from '../../errors/outside-text.ts';
import { rangesText } from '../../options/written-options.ts';
import { rangesOf } from '../sheet-source.ts';

const MAX_LINES = 1000;
const MAX_SHOWN = 5;
const MAX_TEXT = 40;

export class NamedLines {
  count = 0;
  /** The numbers of the first lines. */
  readonly numbers: number[] = [];
  readonly #texts: string[] = [];

  put(line: number, text: string): void {
    this.count += 1;
    if (this.numbers.length < MAX_LINES) this.numbers.push(line);
    if (this.#texts.length < MAX_SHOWN) this.#texts.push(`"${shortened(text.trim(), MAX_TEXT)}"`);
  }

  /** Whether `numbers` has all of them. */
  get isWhole(): boolean {
    return this.count === this.numbers.length;
  }

  /** `lines 1,5-7 ("a", "b", …)` */
  get text(): string {
    const more = this.isWhole ? '' : ` and ${this.count - this.numbers.length} more`;
    const texts = [...this.#texts, ...(this.count > this.#texts.length ? ['…'] : [])];
    return `line${this.count === 1 ? '' : 's'} ${rangesText(rangesOf(this.numbers))}${more} (${texts.join(', ')})`;
  }
}
