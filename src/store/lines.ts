// Reads a file line by line. Node's readline also ends lines at U+2028 and at a carriage return, which JSON may contain.

import type { Readable } from 'node:stream';

/** The lines between line feeds, without them. An empty last line is left out. */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
  input.setEncoding('utf8');
  let rest = '';
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
