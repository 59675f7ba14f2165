// The licence and the notes around the text of a book: lines outside of `*** START OF … ***` and `*** END OF … ***`.

/** A line in capitals between stars, as Project Gutenberg has it. */
const FRAME = /^\*{3}\s?(START|END)\b[^\p{Ll}]*\*{3}$/u;

export class BookFrame {
  readonly #numbers: number[] = [];
  #start: number | undefined;
  #end: number | undefined;

  take(line: string, number: number): void {
    this.#numbers.push(number);
    const [, side] = FRAME.exec(line.trim()) ?? [];
    if (side === 'START') this.#start ??= number;
    if (side === 'END' && this.#start !== undefined) this.#end ??= number;
  }

  /** The numbers of the two lines and of all outside of them. */
  get outside(): readonly number[] {
    const [start = 0, end = Number.POSITIVE_INFINITY] = [this.#start, this.#end];
    return this.#numbers.filter((number) => number <= start || number >= end);
  }
}
