// Splits the text of a CSV sheet, which arrives in pieces and whose lines end with LF, into records. An
// incomplete record waits for the next piece, so memory holds one record and one piece.

import { MAX_RECORD } from '../sheet-record.ts';

/** `csv`: quotes enclose fields; `loose`: quotes inside a field are letters; `none`: all quotes are letters. */
export type Quoting = 'csv' | 'loose' | 'none';

export type CsvRecord = {
  readonly line: number;
  readonly fields: readonly string[];
  /** The raw text, if it spans lines. */
  readonly raw?: string;
};

export type QuoteFault = {
  /** `endless`: not closed within the length of a record. */
  readonly kind: 'unclosed' | 'endless' | 'inside a field' | 'behind a quote' | 'too long';
  readonly line: number;
  /** The field, from 1. */
  readonly column: number;
  /** The line in which the fault was noticed. */
  readonly metInLine: number;
};

export class QuoteError extends Error {
  override readonly name = 'QuoteError';
  readonly fault: QuoteFault;

  constructor(fault: QuoteFault) {
    super(`${fault.kind} in line ${fault.line}`);
    this.fault = fault;
  }
}

type Writing = {
  /** undefined: each line is one field. */
  readonly delimiter: string | undefined;
  readonly quoting: Quoting;
  /** Lines that begin with it are left out. */
  readonly comment?: string | undefined;
};

/** More text is needed to know where the record ends. */
const INCOMPLETE = Symbol('incomplete');

export class CsvParser {
  /**
   * Counts of fields whose quotes are letters: within the field, or around its beginning (`broken`:
   * spanning lines); and the first such field.
   */
  readonly letters = { inside: 0, behind: 0, broken: 0, first: '' };
  readonly #writing: Writing;
  #text = '';
  #at = 0;
  /** Pieces not yet joined to the text, and the length at which the record is parsed again from its beginning. */
  #pieces: string[] = [];
  #length = 0;
  #enough = 0;
  #isLast = false;
  #line = 1;
  /** Position of the next one of each, or the length of the text. */
  #lf = -1;
  #quote = -1;
  #delimiter = -1;

  constructor(writing: Writing) {
    this.#writing = writing;
  }

  get delimiter(): string | undefined {
    return this.#writing.delimiter;
  }

  /** The records that this piece completes. Throws {@link QuoteError}. */
  *take(text: string): Generator<CsvRecord> {
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length < this.#enough) return;
    this.#join();
    yield* this.#records();
    // Otherwise, a record in many pieces would be parsed once for each piece.
    this.#length = this.#text.length - this.#at;
    this.#enough = Math.min(2 * this.#length, MAX_RECORD + 1);
  }

  *end(): Generator<CsvRecord> {
    this.#isLast = true;
    this.#join();
    yield* this.#records();
  }

  #join(): void {
    this.#text = this.#text.slice(this.#at) + this.#pieces.join('');
    this.#pieces = [];
    this.#at = 0;
    [this.#lf, this.#quote, this.#delimiter] = [-1, -1, -1];
  }

  *#records(): Generator<CsvRecord> {
    while (this.#at < this.#text.length) {
      const record = this.#isComment() ? this.#skipped() : this.#record();
      if (record === INCOMPLETE) {
        if (this.#text.length - this.#at > MAX_RECORD) throw tooLong(this.#line);
        return;
      }
      if (record !== undefined) yield record;
    }
  }

  #isComment(): boolean {
    const { comment } = this.#writing;
    return comment !== undefined && this.#text.startsWith(comment, this.#at);
  }

  #skipped(): undefined | typeof INCOMPLETE {
    const end = this.#lineEnd(this.#at);
    return end === undefined ? INCOMPLETE : this.#passLine(end);
  }

  /** undefined: a blank line. */
  #record(): CsvRecord | undefined | typeof INCOMPLETE {
    const { delimiter, quoting } = this.#writing;
    const end = this.#lineEnd(this.#at);
    if (end === undefined && (quoting === 'none' || this.#nextQuote(this.#at) === this.#text.length))
      return INCOMPLETE;
    if (quoting !== 'none' && this.#nextQuote(this.#at) < (end ?? this.#text.length)) return this.#quoted();
    const [text, line] = [this.#text.slice(this.#at, end), this.#line];
    this.#passLine(end as number);
    if (text === '') return undefined;
    if (text.length > MAX_RECORD) throw tooLong(line);
    return { line, fields: delimiter === undefined ? [text] : text.split(delimiter) };
  }

  /** A record that has quotes, field by field. */
  #quoted(): CsvRecord | typeof INCOMPLETE {
    const letters = { ...this.letters };
    const fields: string[] = [];
    let at = this.#at;
    for (;;) {
      const field = this.#field(at, fields.length + 1);
      if (field === INCOMPLETE) {
        Object.assign(this.letters, letters);
        return INCOMPLETE;
      }
      fields.push(field.text);
      at = field.end;
      if (!this.#isDelimiter(at)) break;
      at += (this.#writing.delimiter as string).length;
    }
    const [raw, line] = [this.#text.slice(this.#at, at), this.#line];
    if (raw.length > MAX_RECORD) throw tooLong(line);
    this.#line += breaksIn(raw);
    this.#passLine(at);
    return raw.includes('\n') ? { line, fields, raw } : { line, fields };
  }

  #field(from: number, column: number): { readonly text: string; readonly end: number } | typeof INCOMPLETE {
    const isLoose = this.#writing.quoting === 'loose';
    const opens = isLoose ? this.#pastBlanks(from) : from;
    if (this.#text[opens] !== '"') return this.#bare(from, column, 'inside a field');
    let text = '';
    let part = opens + 1;
    for (;;) {
      const quote = this.#text.indexOf('"', part);
      const isAtEnd = quote < 0 || quote + 1 === this.#text.length;
      if (isAtEnd && !this.#isLast) {
        if (this.#text.length - this.#at > MAX_RECORD) throw this.#fault('endless', opens, column, opens);
        return INCOMPLETE;
      }
      if (quote < 0) throw this.#fault('unclosed', opens, column, this.#text.length);
      text += this.#text.slice(part, quote);
      if (this.#text[quote + 1] === '"') {
        text += '"';
        part = quote + 2;
        continue;
      }
      const end = isLoose ? this.#pastBlanks(quote + 1) : quote + 1;
      if (end === this.#text.length && !this.#isLast) return INCOMPLETE;
      if (this.#isEnd(end)) return { text, end };
      return this.#bare(from, column, 'behind a quote', quote + 1);
    }
  }

  /** Reads a field whose quotes are letters. `from`: its start; `past`: the end of its first part. */
  #bare(
    from: number,
    column: number,
    kind: 'inside a field' | 'behind a quote',
    past = from,
  ): { readonly text: string; readonly end: number } | typeof INCOMPLETE {
    const end = this.#fieldEnd(past);
    if (end === undefined) return INCOMPLETE;
    const text = this.#text.slice(from, end);
    const quote = text.indexOf('"');
    if (quote < 0) return { text, end };
    if (this.#writing.quoting === 'csv')
      throw this.#fault(kind, from, column, kind === 'inside a field' ? from : past);
    this.letters[kind === 'inside a field' ? 'inside' : 'behind'] += 1;
    if (kind === 'behind a quote' && text.includes('\n')) this.letters.broken += 1;
    if (this.letters.first === '') this.letters.first = text;
    // Programs write `="007"` to keep leading zeros in Excel.
    return { text: /^="([^"]*)"$/.exec(text)?.[1] ?? text, end };
  }

  #fault(kind: QuoteFault['kind'], at: number, column: number, met: number): QuoteError {
    const lineAt = (index: number): number => this.#line + breaksIn(this.#text.slice(this.#at, index));
    return new QuoteError({ kind, line: lineAt(at), column, metInLine: lineAt(met) });
  }

  #pastBlanks(from: number): number {
    let at = from;
    while (this.#text[at] === ' ') at += 1;
    return at;
  }

  #isDelimiter(at: number): boolean {
    const { delimiter } = this.#writing;
    return delimiter !== undefined && this.#text.startsWith(delimiter, at);
  }

  #isEnd(at: number): boolean {
    return at >= this.#text.length || this.#text[at] === '\n' || this.#isDelimiter(at);
  }

  #fieldEnd(from: number): number | undefined {
    const { delimiter } = this.#writing;
    if (delimiter !== undefined) this.#delimiter = this.#next(delimiter, this.#delimiter, from);
    const line = this.#lineEnd(from);
    const end = line ?? this.#text.length;
    return delimiter !== undefined && this.#delimiter < end ? this.#delimiter : line;
  }

  /** The end of the line; undefined if it is not in the text yet. */
  #lineEnd(from: number): number | undefined {
    this.#lf = this.#next('\n', this.#lf, from);
    return this.#lf === this.#text.length && !this.#isLast ? undefined : this.#lf;
  }

  #nextQuote(from: number): number {
    this.#quote = this.#next('"', this.#quote, from);
    return this.#quote;
  }

  #next(character: string, cached: number, from: number): number {
    if (cached >= from) return cached;
    const at = this.#text.indexOf(character, from);
    return at < 0 ? this.#text.length : at;
  }

  #passLine(end: number): undefined {
    this.#at = Math.min(this.#text.length, end + 1);
    this.#line += 1;
  }
}

const tooLong = (line: number): QuoteError =>
  new QuoteError({ kind: 'too long', line, column: 1, metInLine: line });

export const breaksIn = (text: string): number => (text.includes('\n') ? text.split('\n').length - 1 : 0);
