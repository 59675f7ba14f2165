// Reads a text of the trade as a table: its columns, and its rows, whose numbers are lines of the file.

import { problem } from '../../errors/error.ts';
import { columnsFrom } from '../header.ts';
import { firstOf, MAX_RECORD, tooLong, type Column, type SheetRecord } from '../sheet-record.ts';
import { isSkipped, type SheetOptions, type SheetSource } from '../sheet-source.ts';
import { linesOf, textOf } from '../text/sheet-text.ts';
import { withoutDash } from '../text/speakers.ts';
import { a1111Row } from './a1111.ts';
import { isWithoutBullets } from '../text/plain-text.ts';
import { type Message, Messages } from './chat.ts';
import { InfoBlocks, isSettingsLine } from './infotext.ts';
import { spokenParts, voicesIn, withoutTags } from './cue-tags.ts';
import { LabelledBlocks, labelsIn } from './labelled-blocks.ts';
import { MarkdownTables } from './markdown-tables.ts';
import { midjourneyRows } from './midjourney-rows.ts';
import { Cues, type Cue } from './subtitles.ts';
import type { TextRow } from './text-row.ts';

/** Lines in which the first settings of PNG info are looked for. */
const MAX_BLOCK = 100;

/** Lines in which the labels of blocks are looked for. */
const MAX_LABELLED = 1000;

/** The columns in the order in which they come. Throws E103 for a line that is too long, and E104 for a text without rows. */
export async function tradeColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  const names = new Set<string>();
  for await (const { cells } of rowsOf(source, options))
    for (const name of Object.keys(cells)) names.add(name);
  if (names.size === 0)
    throw problem('E104', { what: 'the sheet has no rows' }, { place: { file: source.name } });
  return columnsFrom(source.name, 0, [...names]);
}

export async function* tradeRecords(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncGenerator<SheetRecord> {
  for await (const { row, cells, ...faulty } of rowsOf(source, options))
    if (!isSkipped(options, row))
      yield { line: row, column: 1, cells: columns.map((name) => cells[name] ?? ''), ...faulty };
}

function rowsOf(source: SheetSource, options: SheetOptions): AsyncIterable<TextRow> {
  if (options.format === 'midjourney') return midjourneyRows(source, options);
  if (options.format === 'markdown') return tableRows(source, options);
  if (options.format === 'chat') return messageRows(source, options);
  if (options.format === 'blocks') return blockRows(source, options);
  return options.format === 'subtitles' ? cueRows(source, options) : a1111Rows(source, options);
}

async function* a1111Rows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  if (await hasSettingsLine(source, options)) yield* infoRows(source, options);
  else yield* optionRows(source, options);
}

async function hasSettingsLine(source: SheetSource, options: SheetOptions): Promise<boolean> {
  for await (const { text, line } of tradeLines(source, options)) {
    if (isSettingsLine(text)) return true;
    if (line === MAX_BLOCK) break;
  }
  return false;
}

async function* infoRows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  const blocks = new InfoBlocks();
  for await (const { text, line } of tradeLines(source, options)) yield* blocks.take(text, line);
  yield* blocks.end();
}

async function* optionRows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  for await (const { text, line } of tradeLines(source, options)) {
    const row = a1111Row(text, line);
    if (row !== undefined) yield row;
  }
}

async function* tableRows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  const tables = new MarkdownTables();
  for await (const { text, line } of tradeLines(source, options)) {
    const row = tables.take(text, line);
    if (row !== undefined) yield row;
  }
}

async function* blockRows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  const blocks = await blocksOf(source, options);
  for await (const { text, line } of tradeLines(source, options)) yield* blocks.take(text, line).rows;
  yield* blocks.end();
}

/** The reader of the blocks, whose labels stand in the first lines. */
export async function blocksOf(source: SheetSource, options: SheetOptions): Promise<LabelledBlocks> {
  const lines = await Array.fromAsync(firstOf(tradeLines(source, options), MAX_LABELLED), ({ text }) => text);
  return new LabelledBlocks(labelsIn(lines));
}

async function* messageRows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  const [name = 'text'] = options.columns ?? [];
  for await (const { row, isNotice, time, voice, text } of messagesOf(source, options))
    if (!isNotice || options.totals === 'send') yield { row, cells: { time, voice, [name]: text } };
}

/** The messages and notices of a chat as they are written. */
export async function* messagesOf(source: SheetSource, options: SheetOptions): AsyncGenerator<Message> {
  const messages = new Messages();
  for await (const { text, line } of tradeLines(source, options)) yield* messages.take(text, line);
  yield* messages.end();
}

/** A sentence that goes on in the next cue has one speaker. */
const isUnfinished = (text: string): boolean => /[\p{L}\p{N},;–—-]$/u.test(text);

async function* cueRows(source: SheetSource, options: SheetOptions): AsyncGenerator<TextRow> {
  let last = { voice: '', text: '' };
  for await (const { row, cells } of cuesOf(source, options)) {
    const { text = '', index = '' } = cells;
    const voices = voicesIn(text);
    const parts = options.tags === 'voices' ? spokenParts(text) : [];
    if (options.tags === 'send') yield { row, cells };
    else if (parts.length === 0)
      yield {
        row,
        cells: {
          ...cells,
          text: isWithoutBullets(options.tags) ? withoutDashes(withoutTags(text)) : withoutTags(text),
          ...(voices.length > 0 && { voice: voices.join(', ') }),
        },
      };
    else
      for (const [nth, { voice: ownVoice, text: spoken }] of parts.entries()) {
        const voice = ownVoice || (isUnfinished(last.text) && /^\p{Ll}/u.test(spoken) ? last.voice : '');
        last = { voice, text: spoken };
        const name = nth === 0 ? index : `${index}-${nth + 1}`;
        yield { row, cells: { ...cells, index: name, text: spoken, ...(voice !== '' && { voice }) } };
      }
  }
}

const withoutDashes = (text: string): string => text.split('\n').map(withoutDash).join('\n');

/** The cues as they are written. */
export async function* cuesOf(source: SheetSource, options: SheetOptions): AsyncGenerator<Cue> {
  const cues = new Cues((row) => isSkipped(options, row));
  for await (const { text, line } of tradeLines(source, options)) yield* cues.take(text, line);
  yield* cues.end();
}

async function* tradeLines(source: SheetSource, options: SheetOptions) {
  let line = 0;
  for await (const text of linesOf(textOf(source, options), MAX_RECORD)) {
    line += 1;
    if (text.length > MAX_RECORD) throw tooLong({ file: source.name, line });
    yield { text, line };
  }
}
