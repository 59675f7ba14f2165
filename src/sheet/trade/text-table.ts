// Writes a text of the trade as the lines of JSON that an unpacked sheet has, so that it is read as a table. The numbers of its
// rows are the lines of the file.

import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { problem } from '../../errors/error.ts';
import { MAX_RECORD, tooLong } from '../sheet-record.ts';
import { linesOf, textOf } from '../text/sheet-text.ts';
import type { SheetHead } from '../xlsx/unpacked-sheet.ts';
import { a1111Row } from './a1111.ts';
import { Cues } from './subtitles.ts';
import type { TextRow } from './text-row.ts';

type TextTable = {
  readonly from: string;
  /** The name for messages. */
  readonly file: string;
  readonly format: 'a1111' | 'subtitles';
  readonly to: string;
};

/** Throws E103 for a control character or a line that is too long, and E104 for a text without rows. Needs UTF-8 or UTF-16 with its mark. */
export async function unpackText(table: TextTable): Promise<void> {
  const { file, to } = table;
  const names = await namesOf(table);
  if (names.length === 0) throw problem('E104', { what: 'the sheet has no rows' }, { place: { file } });
  const head: SheetHead = { sheet: file, begins: [], others: [], merged: [], hidden: 0, names };
  const lines = async function* (): AsyncGenerator<string> {
    yield `${JSON.stringify(head)}\n`;
    for await (const { row, cells } of rowsOf(table))
      yield `${JSON.stringify([row, names.map((name) => cells[name] ?? '')])}\n`;
  };
  await pipeline(lines, createWriteStream(to));
}

/** The columns in the order in which they come; none without any row. */
async function namesOf(table: TextTable): Promise<readonly string[]> {
  const names = new Set<string>();
  for await (const { cells } of rowsOf(table)) for (const name of Object.keys(cells)) names.add(name);
  return [...names];
}

async function* rowsOf({ from, file, format }: TextTable): AsyncGenerator<TextRow> {
  const source = { name: file, open: () => createReadStream(from) };
  const cues = new Cues();
  let line = 0;
  for await (const text of linesOf(textOf(source, { format: 'csv' }), MAX_RECORD)) {
    line += 1;
    if (text.length > MAX_RECORD) throw tooLong({ file, line });
    const row = format === 'a1111' ? a1111Row(text, line) : cues.take(text, line);
    if (row !== undefined) yield row;
  }
  const last = cues.end();
  if (last !== undefined) yield last;
}
