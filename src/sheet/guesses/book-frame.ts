// The lines around texts that are marked as such: the licence of a book, outside of `*** START OF … ***` and `*** END OF … ***`, and
// a reply, outside of its fences of Markdown.

/** A line in capitals between stars, as Project Gutenberg has it. */
const FRAME = /^\*{3}\s?(START|END)\b[^\p{Ll}]*\*{3}$/u;

/** The beginning or the end of a block of code, also with its language. */
const FENCE = /^(?:`{3,}|~{3,})[\w+-]*$/;

export class BookFrame {
  readonly #numbers: number[] = [];
  readonly #unfenced: number[] = [];
  #isFenced = false;
  #start: number | undefined;
  #end: number | undefined;

  take(line: string, number: number): void {
    this.#numbers.push(number);
    const [, side] = FRAME.exec(line.trim()) ?? [];
    if (side === 'START') this.#start ??= number;
    if (side === 'END' && this.#start !== undefined) this.#end ??= number;
    const isFence = FENCE.test(line.trim());
    if (isFence || !this.#isFenced) this.#unfenced.push(number);
    if (isFence) this.#isFenced = !this.#isFenced;
  }

  /** The numbers of the lines of the frame, and of all outside of it. */
  get outside(): readonly number[] {
    if (this.#unfenced.length < this.#numbers.length && !this.#isFenced) return this.#unfenced;
    const [start = 0, end = Number.POSITIVE_INFINITY] = [this.#start, this.#end];
    return this.#numbers.filter((number) => number <= start || number >= end);
  }
}
