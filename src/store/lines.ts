// Reads a file line by line. Node's readline also ends lines at U+2028 and at a carriage return, which JSON may contain.

import { problem } from '../errors/error.ts';
import type { Store } from './store.ts';

/** The longest line in characters. A record of a row has the size of its cells and texts; others may have written the file. */
const MOST_LINE = 64 << 20;

/** The lines between line feeds, without them. An empty last line is left out. Throws E504 for a line above the limit. */
export async function* linesOf(
  store: Pick<Store, 'location' | 'open'>,
  name: string,
): AsyncGenerator<string> {
  const input = store.open(name).setEncoding('utf8');
  let rest = '';
  for await (const chunk of input as AsyncIterable<string>) {
    // Joined once, however many chunks a line has.
    const lines = chunk.includes('\n') ? (rest + chunk).split('\n') : [rest + chunk];
    rest = lines.pop() ?? '';
    if (rest.length > MOST_LINE)
      throw problem('E504', {
        what: `${store.location}/${name} has a line of more than ${MOST_LINE >> 20} MiB`,
      });
    yield* lines;
  }
  if (rest !== '') yield rest;
}
