// Finds the first quoting error of a CSV. The parser reports an unclosed quote only at the end of the sheet, far from where
// it opened, so this file reads the sheet a second time.

import { Cursor } from '../text/text-cursor.ts';
import { MOST_RECORD } from '../sheet-record.ts';
import type { Spot } from '../position.ts';

export type QuoteFault = Spot & {
  readonly kind: 'unclosed' | 'inside a field' | 'behind a quote' | 'too long';
  /** The line in which the scan noticed it. */
  readonly metInLine: number;
};

/** The first quoting error of this text; `column` counts fields. */
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
 * `start`: at the beginning of a field; `bare`: in an unquoted field; `quoted`: inside quotes; `closed`: after a quote that
 * ends the field unless a second quote follows immediately.
 */
type State = 'start' | 'bare' | 'quoted' | 'closed';

class Scan {
  readonly #cursor = new Cursor();
  /** The characters that have a meaning outside quotes. */
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
    // In a record of this size the closing quote is most likely the opening quote of a later field.
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
