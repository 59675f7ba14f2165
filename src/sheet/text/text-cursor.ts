// Tracks the position in a text that is read in pieces.

/** The line and the character, from 1, of the next character to be read; a CRLF may be split between two pieces. */
export class Cursor {
  line: number;
  column: number;
  #afterCr = false;

  constructor(line = 1, column = 1) {
    this.line = line;
    this.column = column;
  }

  pass(text: string): void {
    if (text === '') return;
    const skipped = this.#afterCr && text.startsWith('\n') ? 1 : 0;
    let lineStart = skipped;
    for (const found of text.slice(skipped).matchAll(/\r\n?|\n/g)) {
      this.line += 1;
      this.column = 1;
      lineStart = skipped + found.index + found[0].length;
    }
    this.column += text.length - lineStart;
    this.#afterCr = text.endsWith('\r');
  }
}

/** A place in the text of a sheet, both counted from 1. */
export type Spot = { readonly line: number; readonly column: number };
