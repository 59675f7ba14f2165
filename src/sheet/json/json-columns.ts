// Reads a JSON document in columns, as pandas writes it: {"prompt": {"0": "a fox"}, "seed": {"0": 1}}, or with lists. Its rows are
// known only at its end, so it is read whole.

import { problem } from '../../errors/error.ts';
import type { JsonPiece } from './json-elements.ts';
import { isRow } from './json-paths.ts';
import { canonical, readJson } from './json-text.ts';

/** Characters. */
const MOST = 64 * 1024 * 1024;

export async function* columnRows(file: string, texts: AsyncIterable<string>): AsyncGenerator<JsonPiece> {
  let text = '';
  for await (const piece of texts) {
    text += piece;
    if (text.length > MOST)
      throw problem(
        'E103',
        { what: 'a document in columns is longer than 64 MiB', hint: 'write one row a line, as JSONL' },
        { place: { file } },
      );
  }
  const read = readJson(text);
  if ('what' in read) throw problem('E103', { what: `this is not JSON: ${read.what}` }, { place: { file } });
  const columns = isRow(read.value) ? Object.entries(read.value) : [];
  const rows = new Map<string, Record<string, unknown>>();
  for (const [name, values] of columns) {
    if (typeof values !== 'object' || values === null)
      throw problem('E103', { what: `the column "${name}" is no object and no list` }, { place: { file } });
    for (const [row, value] of Object.entries(values)) {
      const known = rows.get(row) ?? {};
      known[name] = value;
      rows.set(row, known);
    }
  }
  for (const row of rows.values()) yield { text: canonical(row), line: 1, column: 1 };
}
