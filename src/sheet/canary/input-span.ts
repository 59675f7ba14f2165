// What the rows of a sheet have in one input: the smallest and largest, and each value if there are only a few. Rows arrive in
// any order; the first one of several counts.

import { sizeOf, wordOf, type Candidate, type Trait } from './row-traits.ts';

/** What a canary is to cover, and rows that cover it. */
export type Goal = {
  /** In words, if people need to know. */
  readonly why: readonly string[];
  readonly worth: number;
  readonly row: Candidate;
  readonly isCoveredBy: (candidate: Candidate) => boolean;
};

/** More values than this are no choice between a few. */
const FEW = 8;

/** Large rows fail more often than small ones, and lanes are covered first. */
export const WORTH = { lane: 1_000, largest: 5, smallest: 4, value: 3 } as const;

type Extreme = { readonly size: number; readonly row: Candidate };

export class InputSpan {
  readonly input: string;
  #least: Extreme | undefined;
  #most: Extreme | undefined;
  /** A row of each value; undefined once there are too many values. */
  #few: Map<string, Candidate> | undefined = new Map();
  #isNumeric = true;

  constructor(input: string) {
    this.input = input;
  }

  /** `trait` is undefined for a row without this input. */
  add(trait: Trait | undefined, row: Candidate): void {
    const word = trait === undefined ? '' : wordOf(trait);
    if (word === undefined) this.#few = undefined;
    else if (this.#few?.has(word) === false) this.#few.set(word, row);
    if (this.#few !== undefined && this.#few.size > FEW) this.#few = undefined;
    if (trait === undefined) return;
    this.#isNumeric &&= typeof trait === 'number';
    const size = sizeOf(trait);
    if (this.#least === undefined || size < this.#least.size) this.#least = { size, row };
    if (this.#most === undefined || size > this.#most.size) this.#most = { size, row };
  }

  /** Whether rows differ by their value, and not by their size. */
  get isChoice(): boolean {
    return this.#few !== undefined && !this.#isNumeric;
  }

  get isConstant(): boolean {
    return this.#few?.size === 1;
  }

  goals(): readonly Goal[] {
    if (this.isConstant) return [];
    const { input } = this;
    const extremes = this.isChoice ? [] : this.#extremes();
    const values = [...(this.#few ?? [])].map(([word, row]) => ({
      why: [word === '' ? `no ${input}` : `${input} ${word}`],
      worth: WORTH.value,
      row,
      isCoveredBy: ({ traits }: Candidate) => {
        const trait = traits.get(input);
        return (trait === undefined ? '' : wordOf(trait)) === word;
      },
    }));
    return [...extremes, ...values];
  }

  #extremes(): readonly Goal[] {
    const [small, large] = this.#isNumeric ? ['smallest', 'largest'] : ['shortest', 'longest'];
    const goal = (why: string, worth: number, extreme: Extreme | undefined): readonly Goal[] =>
      extreme === undefined
        ? []
        : [
            {
              why: [`${why} ${this.input}`],
              worth,
              row: extreme.row,
              isCoveredBy: ({ traits }) => {
                const trait = traits.get(this.input);
                return trait !== undefined && sizeOf(trait) === extreme.size;
              },
            },
          ];
    return [
      ...goal(large ?? '', WORTH.largest, this.#most),
      ...goal(small ?? '', WORTH.smallest, this.#least),
    ];
  }
}
