// Where the members of a row of JSON stand in its text. They are found in one pass when the first is asked for: a row may
// have thousands, and its text may have millions of characters.

import { Cursor } from './cursor.ts';
import { membersIn } from './json-fault.ts';
import type { Spot } from './record.ts';

export type Member = {
  /** Where its name and its value stand in the sheet. */
  readonly name: Spot;
  readonly value: Spot;
  /** Where its value begins and ends in the text of the row. */
  readonly from: number;
  readonly to: number;
};

/** The members of one object, whose text begins at `start`. */
export class Members {
  readonly #start: Spot;
  readonly #text: string;
  #found: ReadonlyMap<string, Member> | undefined;

  constructor(start: Spot, text: string) {
    this.#start = start;
    this.#text = text;
  }

  get(name: string): Member | undefined {
    this.#found ??= this.#find();
    return this.#found.get(name);
  }

  /** The value of a member as the sheet has it, up to `most` characters. */
  sourceOf(name: string, most: number): string {
    const { from = 0, to = 0 } = this.get(name) ?? {};
    return this.#text.slice(from, Math.min(to, from + most));
  }

  #find(): ReadonlyMap<string, Member> {
    const cursor = new Cursor(this.#start.line, this.#start.column);
    let passed = 0;
    const spotAt = (at: number): Spot => {
      cursor.pass(this.#text.slice(passed, at));
      passed = at;
      return { line: cursor.line, column: cursor.column };
    };
    const found = new Map<string, Member>();
    for (const { name, at, from, to } of membersIn(this.#text))
      found.set(name, { name: spotAt(at), value: spotAt(from), from, to });
    return found;
  }
}
