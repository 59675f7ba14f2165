// Finds lines of a screenplay that are in capitals: names above the words of a speaker, and headings alone between empty lines.

import { bulletIn } from '../csv/bullets.ts';
import { isInCapitals, nameInCapitals, spokenLine } from '../text/speakers.ts';

type CapitalLine = { readonly text: string; readonly number: number; readonly isIndented: boolean };

const LEAST_NAMES = 2;
const PAGE = /^\s*\d+\.$/;

export class CapitalLines {
  readonly #lines: CapitalLine[] = [];
  readonly #named: CapitalLine[] = [];
  #last = -1;

  take(text: string, number: number): void {
    const above = this.#lines.at(-1);
    const isName = above !== undefined && nameInCapitals(above.text) !== undefined;
    if (number !== this.#last + 1) {
      if (isInCapitals(text) || PAGE.test(text))
        this.#lines.push({ text, number, isIndented: /^\s/.test(text) });
    } else if (isName && above.number === this.#last && (spokenLine(text) ?? bulletIn(text)) === undefined)
      this.#named.push(above);
    this.#last = number;
  }

  /** The lines of names; where some are indented, others are titles. */
  get names(): ReadonlySet<number> {
    const areIndented = this.#named.filter(({ isIndented }) => isIndented).length >= LEAST_NAMES;
    const names = this.#named.filter(({ isIndented }) => isIndented || !areIndented);
    return new Set(names.map(({ number }) => number));
  }

  /** The lines that no one speaks, if the text is a screenplay. */
  get headings(): ReadonlySet<number> {
    const { names } = this;
    const lines = names.size < LEAST_NAMES ? [] : this.#lines.map(({ number }) => number);
    return new Set(lines.filter((number) => !names.has(number)));
  }
}
