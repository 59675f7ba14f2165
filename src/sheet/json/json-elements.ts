// Cuts a JSON document into the texts of its rows, without reading it whole.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { MAX_RECORD, tooLong } from '../sheet-record.ts';
import { Cursor, type Spot } from '../text/sheet-text.ts';

export type JsonPiece = Spot & { readonly text: string };

/** Selects elements: those of the array at `path` (dotted), or the members of the document. */
type Which = { readonly path?: string | undefined; readonly isIndex?: boolean };

/**
 * The elements of an array in `texts`. Outside strings only brackets are counted: an element ends at the
 * first comma or ] outside all inner brackets. Throws E103 if there is no such array, E104 if it is empty.
 */
export async function* elementsOf(
  file: string,
  texts: AsyncIterable<string>,
  which: Which = {},
): AsyncGenerator<JsonPiece> {
  const cutter = new Cutter(file, which);
  for await (const text of texts) yield* cutter.cut(text);
  yield* cutter.end();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

class Cutter {
  readonly #file: string;
  readonly #path: string | undefined;
  readonly #closing: string;
  readonly #walk = new JsonWalk();
  readonly #cursor = new Cursor();
  #where: 'before' | 'inside' | 'behind' = 'before';
  #element = '';
  #start: Spot | undefined;
  #elements = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(file: string, { path, isIndex = false }: Which) {
    [this.#file, this.#path, this.#closing] = [file, path, isIndex ? '}' : ']'];
  }

  *cut(text: string): Generator<JsonPiece> {
    let at = this.#where === 'before' ? this.#enter(text) : 0;
    while (this.#where === 'inside' && at < text.length) {
      const end = this.#endOfElement(text, at);
      this.#take(text.slice(at, end));
      if (end < text.length) yield* this.#finish(text.charAt(end));
      at = end + 1;
    }
    if (this.#where === 'behind' && this.#path === undefined) this.#refuseRest(text.slice(at));
  }

  /** Text left over at the end is an error; parsing the partial element explains it best. */
  *end(): Generator<JsonPiece> {
    const what = 'the sheet is empty';
    if (this.#where === 'before' && this.#path !== undefined) throw this.#noList(this.#path);
    if (this.#where === 'before') throw problem('E104', { what }, { place: { file: this.#file } });
    if (this.#start) yield { text: this.#element, ...this.#start };
    if (this.#where === 'inside')
      throw this.#broken(`the array is not closed: ${this.#closing} is missing at the end`);
  }

  /** Skips the opening bracket and returns the index after it. */
  #enter(text: string): number {
    if (this.#path !== undefined) return this.#seek(text, this.#path);
    const lead = text.length - text.trimStart().length;
    this.#cursor.pass(text.slice(0, lead));
    if (lead === text.length) return lead;
    if (text[lead] !== (this.#closing === ']' ? '[' : '{'))
      throw this.#notAnArray(/^\s*\{.*\}[^\S\n]*(?:\n|$)/.test(text));
    this.#where = 'inside';
    this.#cursor.pass('[');
    return lead + 1;
  }

  #seek(text: string, wanted: string): number {
    for (const { path, opens, at } of this.#walk.walk(text)) {
      if (opens !== '[' || path.join('.') !== wanted) continue;
      this.#where = 'inside';
      this.#cursor.pass(text.slice(0, at + 1));
      return at + 1;
    }
    this.#cursor.pass(text);
    return text.length;
  }

  #noList(path: string): RunsheetError {
    const what = `the document has no list at ${path}`;
    const hint = 'name its members with dots, such as --records data.items';
    return problem('E103', { what, hint }, { place: { file: this.#file } });
  }

  /** The index of the comma or the bracket that ends the element, or the length of the text if it continues. */
  #endOfElement(text: string, from: number): number {
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (OPENING.has(code)) this.#depth += 1;
      else if (this.#depth === 0 && (code === COMMA || CLOSING.has(code))) return at;
      else if (CLOSING.has(code)) this.#depth -= 1;
    }
    return text.length;
  }

  #take(part: string): void {
    const lead = this.#start ? 0 : part.length - part.trimStart().length;
    this.#cursor.pass(part.slice(0, lead));
    if (lead === part.length) return;
    this.#start ??= { line: this.#cursor.line, column: this.#cursor.column };
    this.#cursor.pass(part.slice(lead));
    this.#element += part.slice(lead);
    if (this.#element.length > MAX_RECORD) throw tooLong({ file: this.#file, ...this.#start });
  }

  *#finish(mark: string): Generator<JsonPiece> {
    if (mark !== ',' && mark !== this.#closing)
      throw this.#broken(`expected a comma or ${this.#closing}, found ${mark}`);
    if (this.#start) yield { text: this.#element.trimEnd(), ...this.#start };
    else if (mark === ',' || this.#elements > 0) throw this.#broken(`expected a row, found ${mark}`);
    this.#elements += 1;
    this.#element = '';
    this.#start = undefined;
    this.#depth = 0;
    this.#cursor.pass(mark);
    if (mark === this.#closing) this.#where = 'behind';
  }

  #refuseRest(text: string): void {
    const lead = text.length - text.trimStart().length;
    this.#cursor.pass(text.slice(0, lead));
    if (lead < text.length) throw this.#broken('unexpected text after the end of the array');
  }

  #notAnArray(isLine: boolean): RunsheetError {
    const { line, column } = this.#cursor;
    const what = 'a JSON sheet must be an array of objects, but this one does not begin with [';
    const lines = isLine
      ? 'if it has one object per line, it is JSONL: add --format jsonl'
      : 'if each of its texts is a row: --orient texts; several objects are JSONL if each has a line of its own';
    const hint = `${lines}; if its rows are in a list within it: --records <path>`;
    return problem('E103', { what, hint }, { place: { file: this.#file, line, column } });
  }

  #broken(what: string): RunsheetError {
    const { line, column } = this.#cursor;
    return problem('E103', { what }, { place: { file: this.#file, line, column } });
  }
}

/** Longer names and deeper values do not belong to rows. */
const MAX_NAME = 200;
const DEEPEST = 32;

/** A member of an object, or the first element of an array; `opens`: its first character. */
export type OpenedValue = { readonly path: readonly string[]; readonly opens: string };

export class JsonWalk {
  /** The open objects, each with the last name read, and open arrays, each with its number of values. */
  readonly #open: { readonly kind: string; name: string | undefined; values: number }[] = [];
  /** How many levels are open below the deepest inspected one. */
  #deeper = 0;
  #string: string | undefined;
  #isEscaped = false;
  #last = '';

  /** The values that begin in this piece, and their positions; values deep in arrays are left out. */
  *walk(text: string): Generator<OpenedValue & { readonly at: number }> {
    for (let at = 0; at < text.length; at += 1) {
      const letter = text.charAt(at);
      if (this.#string !== undefined) this.#inString(letter);
      else if (this.#deeper > 0) this.#pass(letter);
      else if (letter === ':') this.#name();
      else if (letter === ',') this.#next();
      else if (letter === '}' || letter === ']') this.#open.pop();
      else if (!/\s/.test(letter)) yield* this.#value(letter, at);
    }
  }

  *#value(letter: string, at: number): Generator<OpenedValue & { readonly at: number }> {
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
    if (/[[{]/.test(letter)) this.#enter(letter);
    if (isFirst) yield { path, opens: letter, at };
  }

  #enter(kind: string): void {
    if (this.#open.length < DEEPEST) this.#open.push({ kind, name: undefined, values: 0 });
    else this.#deeper = 1;
  }

  #pass(letter: string): void {
    if (letter === '"') [this.#string, this.#last] = ['', ''];
    else if (/[[{]/.test(letter)) this.#deeper += 1;
    else if (/[\]}]/.test(letter)) this.#deeper -= 1;
  }

  #inString(letter: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (letter === '\\') this.#isEscaped = true;
    else if (letter === '"') {
      this.#last = this.#string ?? '';
      this.#string = undefined;
      return;
    }
    if ((this.#string?.length ?? 0) < MAX_NAME) this.#string += letter;
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
