// Asks about a table of one column as about a list below a header: bullets and numbers in front of the texts, titles, and notes.

import { fieldsOf, parserOf } from '../csv/csv.ts';
import { firstOf } from '../sheet-record.ts';
import { isSkipped, type SheetOptions, type SheetSource } from '../sheet-source.ts';
import { type GuessPart, NOTHING } from './guess.ts';
import { ListLines, noteGuess, startGuess } from './guess-lines.ts';
import { NoteSections } from './note-sections.ts';
import { TopNotes } from './top-notes.ts';
import { unlikeLines } from './unlike-lines.ts';

const SAMPLED = 10_000;

export async function oneColumnGuesses(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  const { headerRow = 1, skipRows } = options;
  const delimiter = parserOf(options).delimiter ?? '';
  if (headerRow === 0 || options.delimiter === 'none') return NOTHING;
  const [lines, notes, sections] = [new ListLines('strip'), new TopNotes(), new NoteSections()];
  let isHeader = true;
  for await (const { line, fields, fault } of firstOf(fieldsOf(source, options), SAMPLED)) {
    if (isHeader && fields.findLastIndex((name) => name.trim() !== '') !== 0) return NOTHING;
    const text = fields.join(delimiter);
    if (!isHeader && fault === undefined && text.trim() !== '' && !isSkipped(options, line)) {
      lines.take(text, line, false);
      notes.take(text, line);
      sections.take(text, line);
    }
    isHeader = false;
  }
  const asList = { delimiter: 'none', headerRow, quote: 'loose' } as const;
  const parts = [
    lines.areBullets ? startGuess(lines, options, false, asList) : NOTHING,
    !lines.areBullets && skipRows === undefined ? noteGuess(notes.lines) : NOTHING,
    unlikeLines(lines, sections, options),
  ];
  return {
    options: Object.assign({}, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: parts.flatMap((part) => part.guesses),
  };
}
