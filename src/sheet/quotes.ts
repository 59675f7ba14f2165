// Where the quotes of a CSV go wrong. The parser stops with little to say: a quote that never closes is met at the end of
// the sheet, far from where it opened, and until then looks like one very long cell. So the sheet is read once more here.

import { Cursor } from './text-cursor.ts';
import { MOST_RECORD } from './sheet-record.ts';
import type { Spot } from './position.ts';

export type QuoteFault = Spot & {
  readonly kind: 'unclosed' | 'inside a field' | 'behind a quote' | 'too long';
  /** The line in which it was met. */
  readonly metInLine: number;
};

/** The first fault in the quotes of this text; `column` counts fields. */
export async function quoteFault(
  texts: AsyncIterable<string>,
  delimiter: string,
): Promise<QuoteFault | undefined> {
  const scan = new Scan(delimiter);
  for await (const text of texts) {
    const fault = scan.take(text);
    if (fault) return fault;
  }
  return scan.end();
}

/**
 * A field begins (`start`), goes on without quotes (`bare`) or within them (`quoted`); a quote within quotes ends the
 * field (`closed`) unless a second one follows immediately.
 */
type State = 'start' | 'bare' | 'quoted' | 'closed';

class Scan {
  readonly #cursor = new Cursor();
  /** Outside of quotes, the characters that mean something. */
  readonly #mark: RegExp;
  #state: State = 'start';
  #field = 1;
  #recordSize = 0;
  #record: Spot = { line: 1, column: 1 };
  #opened: Spot = { line: 1, column: 1 };

  constructor(delimiter: string) {
    this.#mark = new RegExp(`["\\r\\n\\u{${delimiter.codePointAt(0)?.toString(16)}}]`, 'gu');
  }

  take(text: string): QuoteFault | undefined {
    let at = 0;
    while (at < text.length) {
      const mark = this.#nextMark(text, at);
      const fault = this.#content(text.slice(at, mark.at)) ?? this.#meet(mark.character);
      if (fault) return fault;
      at = mark.at + mark.character.length;
    }
    return undefined;
  }

  end(): QuoteFault | undefined {
    if (this.#state === 'quoted') return this.#fault('unclosed', this.#opened);
    return this.#recordSize > MOST_RECORD ? this.#fault('too long', this.#record) : undefined;
  }

  #nextMark(text: string, from: number): { readonly at: number; readonly character: string } {
    if (this.#state === 'quoted') {
      const at = text.indexOf('"', from);
      return at < 0 ? { at: text.length, character: '' } : { at, character: '"' };
    }
    this.#mark.lastIndex = from;
    const found = this.#mark.exec(text);
    return found ? { at: found.index, character: found[0] } : { at: text.length, character: '' };
  }

  #content(text: string): QuoteFault | undefined {
    if (text === '') return undefined;
    this.#pass(text);
    if (this.#state === 'quoted') return undefined;
    // The quote that seems to close a record of this size is rather the next one that opens.
    if (this.#state === 'closed')
      return this.#fault(this.#recordSize > MOST_RECORD ? 'unclosed' : 'behind a quote', this.#opened);
    this.#state = 'bare';
    return this.#recordSize > MOST_RECORD ? this.#fault('too long', this.#record) : undefined;
  }

  #meet(character: string): QuoteFault | undefined {
    if (character === '') return undefined;
    if (character === '\r' || character === '\n') return this.#endRecord(character);
    const spot = { line: this.#cursor.line, column: this.#field };
    this.#pass(character);
    if (character !== '"') {
      this.#field += 1;
      this.#state = 'start';
      return undefined;
    }
    if (this.#state === 'bare') return this.#fault('inside a field', spot);
    if (this.#state === 'start') this.#opened = spot;
    this.#state = this.#state === 'quoted' ? 'closed' : 'quoted';
    return undefined;
  }

  #endRecord(lineBreak: string): QuoteFault | undefined {
    if (this.#recordSize > MOST_RECORD) return this.#fault('too long', this.#record);
    this.#pass(lineBreak);
    this.#state = 'start';
    this.#field = 1;
    this.#recordSize = 0;
    this.#record = { line: this.#cursor.line, column: 1 };
    return undefined;
  }

  #pass(text: string): void {
    this.#cursor.pass(text);
    this.#recordSize += Buffer.byteLength(text);
  }

  #fault(kind: QuoteFault['kind'], spot: Spot): QuoteFault {
    return { ...spot, kind, metInLine: this.#cursor.line };
  }
}
