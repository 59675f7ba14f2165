// Splits the text of a CSV sheet, which arrives in pieces and whose lines end with LF, into records. An
// incomplete record waits for the next piece, so memory holds one record and one piece.

import { MAX_RECORD } from '../sheet-record.ts';

/**
 * `csv`: quotes enclose fields; `backslash`: they do, and `\"` is a quote within; `loose`: quotes inside a field are letters;
 * `none`: all quotes are letters.
 */
export type Quoting = 'csv' | 'backslash' | 'loose' | 'none';

export type CsvRecord = {
  readonly line: number;
  readonly fields: readonly string[];
  /** The raw text, if it spans lines. */
  readonly raw?: string;
  /** Whether quotes enclose each field that is neither empty nor a number. */
  readonly isEnclosed?: true;
  /** Why the line is not a record; the next record begins after the line. */
  readonly fault?: QuoteFault;
};

export type QuoteFault = {
  /** `endless`: not closed within the length of a record. */
  readonly kind: 'unclosed' | 'endless' | 'inside a field' | 'after a quote' | 'too long';
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

/** `isBare`: quotes do not enclose it. */
type Field = { readonly text: string; readonly end: number; readonly isBare: boolean };
type BrokenField = { readonly fault: QuoteFault; readonly at: number };

type CsvDialect = {
  /** undefined: each line is one field. */
  readonly delimiter: string | undefined;
  readonly quoting: Quoting;
  /** Lines that begin with it are left out. */
  readonly comment?: string | undefined;
};

const NUMBER = /^\s*(?:[-+]?[\d.]+)?\s*$/;

/** A field that ends with a quote after a letter, as one in quotes does: `soft"`, and not `24"`. */
const CLOSING = /\D"\s*$/;

/** The field has a fault. */
const BROKEN = Symbol('broken');

/** More text is needed to know where the record ends. */
const INCOMPLETE = Symbol('incomplete');

export class CsvParser {
  /**
   * Counts of fields whose quotes are letters: within the field (`closing`: at its end), or around its beginning (`spread`:
   * over lines, or before a field with a closing one); of quotes after a backslash; and the first such field. `needed` and
   * `needless`: fields that quotes enclose, by whether they would be divided without; `whole`: the first of the latter.
   */
  readonly letters = {
    inside: 0,
    closing: 0,
    behind: 0,
    spread: 0,
    escaped: 0,
    first: '',
    needed: 0,
    needless: 0,
    whole: '',
  };
  readonly #dialect: CsvDialect;
  #text = '';
  #at = 0;
  /** Pieces not yet joined to the text, and the length at which the record is parsed again from its beginning. */
  #pieces: string[] = [];
  #length = 0;
  #enough = 0;
  #isLast = false;
  /** The last one that a field had. */
  #fault: BrokenField | undefined;
  #line = 1;
  /** Position of the next one of each, or the length of the text. */
  #lf = -1;
  #quote = -1;
  #delimiter = -1;

  constructor(dialect: CsvDialect) {
    this.#dialect = dialect;
  }

  get delimiter(): string | undefined {
    return this.#dialect.delimiter;
  }

  /** The records that this piece completes. Throws {@link QuoteError} for one that is too long. */
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
    this.#forget();
  }

  #forget(): void {
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
    const { comment } = this.#dialect;
    return comment !== undefined && this.#text.startsWith(comment, this.#at);
  }

  #skipped(): undefined | typeof INCOMPLETE {
    const end = this.#lineEnd(this.#at);
    return end === undefined ? INCOMPLETE : this.#passLine(end);
  }

  /** undefined: a blank line. */
  #record(): CsvRecord | undefined | typeof INCOMPLETE {
    const { delimiter, quoting } = this.#dialect;
    const end = this.#lineEnd(this.#at);
    if (end === undefined && (quoting === 'none' || this.#nextQuote(this.#at) === this.#text.length))
      return INCOMPLETE;
    if (quoting !== 'none' && this.#nextQuote(this.#at) < (end ?? this.#text.length)) {
      return quoting === 'csv' ? this.#quoted() : this.#counted();
    }
    const [text, line] = [this.#text.slice(this.#at, end), this.#line];
    this.#passLine(end as number);
    if (text === '') return undefined;
    if (text.length > MAX_RECORD) throw tooLong(line);
    return { line, fields: delimiter === undefined ? [text] : text.split(delimiter) };
  }

  /** A record whose quotes may be letters. */
  #counted(): CsvRecord | typeof INCOMPLETE {
    const letters = { ...this.letters };
    const record = this.#quoted();
    if (record === INCOMPLETE || record.fault !== undefined) Object.assign(this.letters, letters);
    else if (this.letters.behind > letters.behind && this.letters.closing > letters.closing)
      this.letters.spread += 1;
    return record;
  }

  /** A record that has quotes, field by field. */
  #quoted(): CsvRecord | typeof INCOMPLETE {
    const fields: string[] = [];
    let at = this.#at;
    let isEnclosed = true;
    for (;;) {
      const field = this.#field(at, fields.length + 1);
      if (field === INCOMPLETE) return INCOMPLETE;
      if (field === BROKEN) return this.#broken(this.#fault as BrokenField);
      fields.push(field.text);
      if (isEnclosed && field.isBare && !NUMBER.test(field.text)) isEnclosed = false;
      at = field.end;
      if (!this.#isDelimiter(at)) break;
      at += (this.#dialect.delimiter as string).length;
    }
    const [raw, line] = [this.#text.slice(this.#at, at), this.#line];
    if (raw.length > MAX_RECORD) throw tooLong(line);
    this.#line += breaksIn(raw);
    this.#passLine(at);
    const record = isEnclosed ? ({ line, fields, isEnclosed } as const) : { line, fields };
    return raw.includes('\n') ? { ...record, raw } : record;
  }

  /** A record up to the end of the line with its fault. A quote that is not closed would take in further lines, which may be records. */
  #broken({ fault, at }: BrokenField): CsvRecord | typeof INCOMPLETE {
    this.#forget();
    const end = this.#lineEnd(at);
    if (end === undefined) return INCOMPLETE;
    const [text, line] = [this.#text.slice(this.#at, end), this.#line];
    if (text.length > MAX_RECORD) throw tooLong(line);
    this.#line += breaksIn(text);
    this.#passLine(end);
    return { line, fields: [text], fault };
  }

  #field(from: number, column: number): Field | typeof BROKEN | typeof INCOMPLETE {
    const opens = this.#pastBlanks(from);
    if (this.#text[opens] !== '"') return this.#bare(from, column, 'inside a field');
    let text = '';
    let part = opens + 1;
    for (;;) {
      const quote = this.#text.indexOf('"', part);
      const isAtEnd = quote < 0 || quote + 1 === this.#text.length;
      if (isAtEnd && !this.#isLast) {
        if (this.#text.length - this.#at > MAX_RECORD) return this.#refuse('endless', opens, column, opens);
        return INCOMPLETE;
      }
      if (quote < 0) return this.#refuse('unclosed', opens, column, this.#text.length);
      text += this.#text.slice(part, quote);
      if (this.#isEscaped(quote, part)) {
        this.letters.escaped += 1;
        text += '"';
        part = quote + 1;
        continue;
      }
      if (this.#text[quote + 1] === '"') {
        text += '"';
        part = quote + 2;
        continue;
      }
      const end = this.#pastBlanks(quote + 1);
      if (end === this.#text.length && !this.#isLast) return INCOMPLETE;
      if (this.#isEnd(end)) {
        this.#countEnclosed(text);
        return { text: this.#unescaped(text), end, isBare: false };
      }
      return this.#bare(from, column, 'after a quote', quote + 1);
    }
  }

  #countEnclosed(text: string): void {
    const { delimiter } = this.#dialect;
    const isNeeded = /["\n]/.test(text) || (delimiter !== undefined && text.includes(delimiter));
    this.letters[isNeeded ? 'needed' : 'needless'] += 1;
    if (!isNeeded && this.letters.whole === '') this.letters.whole = text;
  }

  #isEscaped(quote: number, from: number): boolean {
    if (this.#dialect.quoting !== 'backslash') return false;
    let at = quote;
    while (at > from && this.#text[at - 1] === '\\') at -= 1;
    return (quote - at) % 2 === 1;
  }

  #unescaped(text: string): string {
    return this.#dialect.quoting === 'backslash' ? text.replaceAll(/\\(["\\])/g, '$1') : text;
  }

  /** Reads a field whose quotes are letters. `from`: its start; `past`: the end of its first part. */
  #bare(
    from: number,
    column: number,
    kind: 'inside a field' | 'after a quote',
    past = from,
  ): Field | typeof BROKEN | typeof INCOMPLETE {
    const end = this.#fieldEnd(past);
    if (end === undefined) return INCOMPLETE;
    const text = this.#text.slice(from, end);
    const quote = text.indexOf('"');
    if (quote < 0) return { text, end, isBare: true };
    if (this.#dialect.quoting !== 'loose')
      return this.#refuse(kind, from, column, kind === 'inside a field' ? from : past);
    this.letters[kind === 'inside a field' ? 'inside' : 'behind'] += 1;
    if (kind === 'inside a field' && CLOSING.test(text)) this.letters.closing += 1;
    if (kind === 'after a quote' && text.includes('\n')) this.letters.spread += 1;
    if (this.letters.first === '') this.letters.first = text;
    // Programs write `="007"` to keep leading zeros in Excel.
    return { text: /^="([^"]*)"$/.exec(text)?.[1] ?? text, end, isBare: true };
  }

  #refuse(kind: QuoteFault['kind'], at: number, column: number, met: number): typeof BROKEN {
    const lineAt = (index: number): number => this.#line + breaksIn(this.#text.slice(this.#at, index));
    this.#fault = { fault: { kind, line: lineAt(at), column, metInLine: lineAt(met) }, at };
    return BROKEN;
  }

  #pastBlanks(from: number): number {
    let at = from;
    while (this.#text.charCodeAt(at) === BLANK) at += 1;
    return at;
  }

  #isDelimiter(at: number): boolean {
    const { delimiter } = this.#dialect;
    return delimiter !== undefined && this.#text.startsWith(delimiter, at);
  }

  #isEnd(at: number): boolean {
    return at >= this.#text.length || this.#text.charCodeAt(at) === LF || this.#isDelimiter(at);
  }

  #fieldEnd(from: number): number | undefined {
    const { delimiter } = this.#dialect;
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

const BLANK = 0x20;
const LF = 0x0a;

const tooLong = (line: number): QuoteError =>
  new QuoteError({ kind: 'too long', line, column: 1, metInLine: line });

export const breaksIn = (text: string): number => (text.includes('\n') ? text.split('\n').length - 1 : 0);
