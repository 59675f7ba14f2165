// Walks the outer structure of a JSON document that comes in pieces: where its arrays and objects begin, and under which names.

/** Longer names are not those of rows. */
const MOST_NAME = 200;

/** A value of an object, or the first one of an array; `opens`: its first character. */
export type Opened = { readonly path: readonly string[]; readonly opens: string };

export class JsonWalk {
  /** The open objects and arrays; of an object, the name that was read last; of an array, how many values were begun. */
  readonly #open: { readonly kind: string; name: string | undefined; values: number }[] = [];
  #string: string | undefined;
  #isEscaped = false;
  #last = '';

  /** The values that begin in this piece, and where; those deep in arrays are left out. */
  *walk(text: string): Generator<Opened & { readonly at: number }> {
    for (let at = 0; at < text.length; at += 1) {
      const letter = text.charAt(at);
      if (this.#string !== undefined) this.#inString(letter);
      else if (letter === ':') this.#name();
      else if (letter === ',') this.#next();
      else if (letter === '}' || letter === ']') this.#open.pop();
      else if (!/\s/.test(letter)) yield* this.#value(letter, at);
    }
  }

  *#value(letter: string, at: number): Generator<Opened & { readonly at: number }> {
    const parent = this.#open.at(-1);
    const isName = parent?.kind === '{' && parent.name === undefined;
    const isBegun = parent !== undefined && !isName && parent.values > 0;
    if (letter === '"') [this.#string, this.#last] = ['', ''];
    if (isName) return;
    // A number or a word has several letters.
    if (!/[[{"]/.test(letter) && isBegun) return;
    const isFirst = this.#open.every(
      ({ kind, values }, depth) => kind === '{' || values === (depth === this.#open.length - 1 ? 0 : 1),
    );
    if (parent !== undefined) parent.values += 1;
    const path = this.#open.flatMap(({ kind, name }) => (kind === '{' ? [name ?? ''] : ['0']));
    if (/[[{]/.test(letter)) this.#open.push({ kind: letter, name: undefined, values: 0 });
    if (isFirst) yield { path, opens: letter, at };
  }

  #inString(letter: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (letter === '\\') this.#isEscaped = true;
    else if (letter === '"') {
      this.#last = this.#string ?? '';
      this.#string = undefined;
      return;
    }
    if ((this.#string?.length ?? 0) < MOST_NAME) this.#string += letter;
  }

  #next(): void {
    const parent = this.#open.at(-1);
    if (parent?.kind === '{') parent.name = undefined;
  }

  #name(): void {
    const parent = this.#open.at(-1);
    if (parent?.kind !== '{') return;
    parent.name = this.#last;
    parent.values = 0;
  }
}
