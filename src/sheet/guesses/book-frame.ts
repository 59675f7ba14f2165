// The lines around texts that are marked as such: the licence of a book, outside of `*** START OF … ***` and `*** END OF … ***`; a
// reply, outside of its fences of Markdown; and the properties on top of a note, its comments, and the heads of its callouts.

/** A line in capitals between stars, as Project Gutenberg has it. */
const FRAME = /^\*{3}\s?(START|END)\b[^\p{Ll}]*\*{3}$/u;

/** The beginning or the end of a block of code, also with its language. */
const FENCE = /^(?:`{3,}|~{3,})[\w+-]*$/;

/** Above and below the properties of a note. */
const PROPERTIES = '---';
const REMARK = /^%%.*%%$|^<!--.*-->$/;
/** The head of a callout, whose lines begin with the same sign. */
const CALLOUT = /^>\s?\[!\w+\]/;

export class BookFrame {
  readonly #numbers: number[] = [];
  readonly #unfenced: number[] = [];
  readonly #remarks: number[] = [];
  /** Numbers of the lines of properties; undefined if they have ended, or the text begins with another line. */
  #properties: number[] | undefined = [];
  #isCallout = false;
  #isFenced = false;
  #start: number | undefined;
  #end: number | undefined;

  take(line: string, number: number): void {
    this.#numbers.push(number);
    this.#takeProperty(line.trim(), number);
    this.#isCallout = CALLOUT.test(line.trim()) || (this.#isCallout && line.trim().startsWith('>'));
    if (this.#isCallout || REMARK.test(line.trim())) this.#remarks.push(number);
    const [, side] = FRAME.exec(line.trim()) ?? [];
    if (side === 'START') this.#start ??= number;
    if (side === 'END' && this.#start !== undefined) this.#end ??= number;
    const isFence = FENCE.test(line.trim());
    if (isFence || !this.#isFenced) this.#unfenced.push(number);
    if (isFence) this.#isFenced = !this.#isFenced;
  }

  #takeProperty(text: string, number: number): void {
    if (this.#properties === undefined) return;
    const isRule = text === PROPERTIES;
    if (!isRule && this.#properties.length === 0) return void (this.#properties = undefined);
    this.#properties.push(number);
    if (!isRule || this.#properties.length === 1) return;
    this.#remarks.push(...this.#properties);
    this.#properties = undefined;
  }

  /** The numbers of the lines of the frame, and of all outside of it. */
  get outside(): readonly number[] {
    if (this.#unfenced.length < this.#numbers.length && !this.#isFenced)
      return [...this.#remarks, ...this.#unfenced];
    const [start = 0, end = Number.POSITIVE_INFINITY] = [this.#start, this.#end];
    return [...this.#remarks, ...this.#numbers.filter((number) => number <= start || number >= end)];
  }
}
