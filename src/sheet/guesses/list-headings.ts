// Finds headings in a list of texts: lines alone above a rule, in a text that has several lines between two rules.

import { rangesText } from '../../options/written-options.ts';
import { rangesOf } from '../sheet-source.ts';

/** `----`, `====`, or a line of a table in Markdown. */
const RULE = /^:?[-=]{3,}:?$/;

export const isRule = (text: string): boolean => RULE.test(text.trim());

export class ListHeadings {
  first: string | undefined;
  /** Headings and rules. */
  readonly #lines: number[] = [];
  /** The lines since the last blank line or rule. */
  #paragraph: { readonly line: number; readonly text: string }[] = [];
  /** Number of filled lines since the last rule. */
  #block = 0;
  #longestBlock = 0;
  #isBelowDoubleRule = false;

  take(text: string, line: number): void {
    if (isRule(text)) this.#takeRule(text, line);
    else if (text.trim() === '') [this.#paragraph, this.#isBelowDoubleRule] = [[], false];
    else {
      this.#paragraph.push({ line, text });
      this.#block += 1;
      this.#longestBlock = Math.max(this.#longestBlock, this.#block);
    }
  }

  /** The ranges of headings and rules. If each block between rules is one line, rules only separate texts. */
  get ranges(): string | undefined {
    return this.first === undefined || this.#longestBlock < 2 ? undefined : rangesText(rangesOf(this.#lines));
  }

  #takeRule(text: string, line: number): void {
    const [heading] = this.#paragraph;
    const isTitle = this.#paragraph.length === 1 || this.#isBelowDoubleRule;
    if (heading !== undefined && isTitle) {
      this.first ??= heading.text.trim();
      this.#lines.push(...this.#paragraph.map((titled) => titled.line));
    }
    this.#lines.push(line);
    this.#paragraph = [];
    this.#block = 0;
    this.#isBelowDoubleRule = text.trim().startsWith('=');
  }
}
