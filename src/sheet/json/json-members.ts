// Finds the positions of the members of a JSON row in one pass, because a row may have thousands of members and millions of
// characters.

import { Cursor } from '../text/text-cursor.ts';
import { membersIn } from './json-fault.ts';
import type { Spot } from '../position.ts';

export type Member = {
  /** The positions of its name and its value in the sheet. */
  readonly name: Spot;
  readonly value: Spot;
  /** The range of its value in the text of the row. */
  readonly from: number;
  readonly to: number;
};

/** The members of one object whose text begins at `start`, found on demand. */
export class Members {
  readonly #text: string;
  readonly #cursor: Cursor;
  readonly #unread: ReturnType<typeof membersIn>;
  readonly #found = new Map<string, Member>();
  #passed = 0;

  constructor(start: Spot, text: string) {
    this.#text = text;
    this.#cursor = new Cursor(start.line, start.column);
    this.#unread = membersIn(text);
  }

  get(name: string): Member | undefined {
    while (!this.#found.has(name)) {
      const next = this.#unread.next();
      if (next.done) return undefined;
      const { at, from, to } = next.value;
      this.#found.set(next.value.name, { name: this.#spotAt(at), value: this.#spotAt(from), from, to });
    }
    return this.#found.get(name);
  }

  /** The value of a member as the sheet has it, up to `most` characters. */
  sourceOf(name: string, most: number): string {
    const { from = 0, to = 0 } = this.get(name) ?? {};
    return this.#text.slice(from, Math.min(to, from + most));
  }

  #spotAt(at: number): Spot {
    this.#cursor.pass(this.#text.slice(this.#passed, at));
    this.#passed = at;
    return { line: this.#cursor.line, column: this.#cursor.column };
  }
}
