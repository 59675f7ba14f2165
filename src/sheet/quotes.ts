// Where the quotes of a CSV go wrong. The parser stops with little to say, and a quote that never closes is met at the
// end of the sheet, far from where it opened; this reads the sheet once more and keeps count of where quotes open.

import { MOST_RECORD, type Spot } from './record.ts';

export type QuoteFault = Spot & {
  readonly kind: 'unclosed' | 'inside a field' | 'behind a quote' | 'too long';
  /** The line in which it was met. */
  readonly metInLine: number;
};

/** The first fault in the quotes of these physical lines; `column` counts fields. */
export async function quoteFault(
  lines: AsyncIterable<string>,
  delimiter: string,
): Promise<QuoteFault | undefined> {
  const scan = new Scan(delimiter);
  for await (const line of lines) {
    const fault = scan.line(line);
    if (fault) return fault;
  }
  return scan.end();
}

/**
 * A field begins (`start`), goes on without quotes (`bare`) or within them (`quoted`); a quote within quotes ends the
 * field (`closed`) unless a second one follows at once.
 */
type State = 'start' | 'bare' | 'quoted' | 'closed';

class Scan {
  readonly #delimiter: string;
  #state: State = 'start';
  #line = 0;
  #field = 1;
  #recordSize = 0;
  #record: Spot = { line: 1, column: 1 };
  #opened: Spot = { line: 1, column: 1 };

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  line(text: string): QuoteFault | undefined {
    this.#line += 1;
    if (this.#state !== 'quoted') this.#beginRecord();
    this.#recordSize += Buffer.byteLength(text);
    for (const character of text) {
      const fault = this.#character(character);
      if (fault) return fault;
    }
    if (this.#recordSize <= MOST_RECORD) return undefined;
    return this.#state === 'quoted' ? this.end() : this.#fault('too long', this.#record);
  }

  end(): QuoteFault | undefined {
    return this.#state === 'quoted' ? this.#fault('unclosed', this.#opened) : undefined;
  }

  #beginRecord(): void {
    this.#state = 'start';
    this.#field = 1;
    this.#recordSize = 0;
    this.#record = { line: this.#line, column: 1 };
  }

  #character(character: string): QuoteFault | undefined {
    const spot = { line: this.#line, column: this.#field };
    if (character === '"') {
      if (this.#state === 'bare') return this.#fault('inside a field', spot);
      if (this.#state === 'start') this.#opened = spot;
      this.#state = this.#state === 'quoted' ? 'closed' : 'quoted';
    } else if (this.#state === 'quoted') return undefined;
    else if (character === this.#delimiter) {
      this.#field += 1;
      this.#state = 'start';
    } else if (this.#state === 'closed') return this.#fault('behind a quote', this.#opened);
    else this.#state = 'bare';
    return undefined;
  }

  #fault(kind: QuoteFault['kind'], spot: Spot): QuoteFault {
    return { ...spot, kind, metInLine: this.#line };
  }
}
