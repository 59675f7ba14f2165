// Decides whether names in front of texts are those of speakers: `TOM: Did you hear that?`.

import { list } from '../../errors/error.ts';
import { shortened } from '../../errors/outside-text.ts';
import { isClause, isInCapitals } from '../text/speakers.ts';

const MAX_NAMES = 1000;
const MAX_SHOWN = 8;
const MAX_NAME = 40;

export class SpeakerNames {
  #texts = 0;
  count = 0;
  readonly #names = new Map<string, number>();

  /** Takes a text, with its name if it has one. */
  take(name: string | undefined): void {
    this.#texts += 1;
    if (name === undefined) return;
    this.count += 1;
    if (this.#names.has(name) || this.#names.size < MAX_NAMES)
      this.#names.set(name, (this.#names.get(name) ?? 0) + 1);
  }

  /** Whether half of the texts have a name, or names are in capitals or come again as those of a script do. Clauses are no names. */
  areSpeakers(least: number): boolean {
    return this.#areMany(
      [...this.#names].filter(([name]) => !isClause(name)),
      least,
    );
  }

  /** Whether most texts have a name, and names come again. */
  get comeAgain(): boolean {
    return this.#names.size < this.count && this.count * 2 > this.#texts;
  }

  /** Whether they would be speakers if clauses were names. */
  areClauses(least: number): boolean {
    return !this.areSpeakers(least) && this.#areMany([...this.#names], least);
  }

  #areMany(names: readonly (readonly [name: string, count: number])[], least: number): boolean {
    const countOf = (named: typeof names): number => named.reduce((sum, [, often]) => sum + often, 0);
    const count = countOf(names);
    return (
      countOf(names.filter(([name, often]) => often > 1 || isInCapitals(name))) >= least ||
      (count >= 2 && count * 2 >= this.#texts)
    );
  }

  /** `TOM, ANNA and 3 more` */
  get text(): string {
    const names = [...this.#names.keys()].slice(0, MAX_SHOWN).map((name) => shortened(name, MAX_NAME));
    const more = this.#names.size - names.length;
    return `${list(names)}${more > 0 ? ` and ${more} more` : ''}`;
  }
}
