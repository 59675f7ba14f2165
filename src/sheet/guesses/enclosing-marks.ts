// Finds quotes that enclose nothing in a CSV: curly and single quotes, and any quotes in a plain list. They
// would be sent, and delimiters between them split the text.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { parserOf } from '../csv/csv.ts';
import { isDelimited } from '../formats.ts';
import { surveyedRecords } from '../read-records.ts';
import { cellText, firstOf, shortened } from '../sheet-record.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { isWithoutBullets } from '../text/plain-text.ts';
import { HTML_TAG } from './cell-forms.ts';
import { commentsAmong } from './comment-lines.ts';
import { type Guess, or, said, toConfirm } from './guess.ts';
import { NamedLines } from './named-lines.ts';

/** Number of rows to inspect. */
const SAMPLED = 1000;

/** The most parts of a divided text. */
const MAX_PARTS = 100;

/** Opening mark → closing mark. */
const MARKS: Readonly<Record<string, string>> = {
  '“': '”',
  '„': '“”',
  '”': '”',
  '«': '»',
  '»': '«',
  '‘': '’',
  '‚': '‘’',
  "'": "'",
  '`': '`',
  '"': '"',
};

export type MarkedCells = { readonly guesses: readonly Guess[]; readonly refusal?: RunsheetError };

/** `isSent`: whether a column is sent. A workbook says where its cells end, so nothing is asked about it. */
export async function markedCells(
  source: SheetSource,
  options: SheetOptions,
  names: readonly string[],
  isSent: (name: string) => boolean,
): Promise<MarkedCells> {
  const isBook = !isDelimited(options.format);
  const isList = options.delimiter === 'none';
  const delimiter = isBook ? undefined : parserOf(options).delimiter;
  const closesOf = (text: string): string => {
    const isCsvQuote = text.startsWith('"') && delimiter !== undefined;
    return isCsvQuote ? '' : (MARKS[text.charAt(0)] ?? '');
  };
  // Lines copied from a list in code end with a comma.
  const end = isList ? /,$/ : '';
  const isEnclosed = (text: string): boolean =>
    text.length > 1 && closesOf(text).includes(text.replace(end, '').at(-1) ?? '');
  const isDivided = (text: string, otherCells: readonly string[]): boolean => {
    const closes = closesOf(text);
    const closed = (cell: string): boolean => closes.includes(cell.at(-1) ?? ' ');
    return (
      !isClosed(text, closes) && otherCells.some((cell) => closed(cell) && !cell.startsWith(text.charAt(0)))
    );
  };
  if (delimiter !== undefined && options.headerRow !== 0 && names.every(isEnclosed))
    return { guesses: [], refusal: refusal(source.name, options.headerRow ?? 1, names[0] ?? '') };
  const isComment = isList ? await commentsAmong(firstCells(source, options, names), options) : () => false;
  const columns = new Map([...names.entries()].filter(([, name]) => isSent(name)));
  const firsts = new Map<number, string>();
  const [quotedLines, otherLines] = [new NamedLines(), new NamedLines()];
  let rows = 0;
  let html: string | undefined;
  for await (const { cells, line } of surveyedRecords(source, options, names)) {
    const texts = cells.map((cell) => cellText(cell).trim());
    const divided = texts.findIndex(
      (text, at) => isSent(names[at] ?? '') && isDivided(text, texts.slice(at + 1, at + MAX_PARTS)),
    );
    if (delimiter !== undefined && divided >= 0)
      return { guesses: [], refusal: refusal(source.name, line, cells.slice(divided).join(delimiter)) };
    const [first = ''] = texts;
    // Only the lines that stay are counted.
    if (isList && first !== '' && !isComment(first)) {
      const isWhole = isEnclosed(first) && isOneQuote(first.replace(end, ''), closesOf(first));
      (isWhole ? quotedLines : otherLines).put(line, first);
    }
    for (const at of columns.keys()) {
      const text = texts[at] ?? '';
      if (isComment(text)) continue;
      // A delimiter in a cell shows that quotes of a CSV stand around the marks.
      const isQuoted = delimiter !== undefined && options.unquoted === undefined && text.includes(delimiter);
      if (text !== '' && (isQuoted || !isEnclosed(text))) columns.delete(at);
      else if (text !== '' && !firsts.has(at)) firsts.set(at, text);
    }
    html ??= texts.flatMap((text, at) =>
      isSent(names[at] ?? '') ? (HTML_TAG.exec(text)?.[0] ?? []) : [],
    )[0];
    rows += 1;
    if (rows === SAMPLED) break;
  }
  const guesses = [...columns].flatMap(([at, name]) => {
    const first = firsts.get(at);
    return first === undefined ? [] : [guessOf(name, first, options)];
  });
  if (guesses.length === 0 && quotedLines.count > 0)
    guesses.push(quotedGuess(quotedLines, otherLines, options));
  if (html !== undefined)
    guesses.push(said('values', `HTML in a text is sent with it, such as ${shortened(html.trim())}`));
  return { guesses };
}

/** The first cells of the rows with their lines. */
async function* firstCells(source: SheetSource, options: SheetOptions, names: readonly string[]) {
  for await (const { cells, line } of firstOf(surveyedRecords(source, options, names), SAMPLED))
    yield [line, cellText(cells[0])] as const;
}

/** Whether a mark closes the text, or the text has no mark; a mark before a letter is an apostrophe. */
const isClosed = (text: string, closes: string): boolean =>
  closes === '' || new RegExp(String.raw`[${closes}](?!\p{L})`, 'u').test(text.slice(1));

/** Whether the last mark closes the first one: `"a" and "b"` has two pairs. */
const isOneQuote = (text: string, closes: string): boolean => {
  const inside = text.slice(1, -1).replaceAll('""', '');
  return !new RegExp(String.raw`[${closes}](?!\p{L})`, 'u').test(inside);
};

/** Some lines of a list are quotes; if they are straight, they can be left out. */
function quotedGuess(lines: NamedLines, otherLines: NamedLines, { format }: SheetOptions): Guess {
  const areMost = lines.count > otherLines.count;
  const without = areMost ? `; ${otherLines.text} ${otherLines.count === 1 ? 'has' : 'have'} none` : '';
  const of = lines.count + otherLines.count;
  const text = `${lines.count} of ${of} lines are in quotes, which are sent with them: ${lines.text}${without}`;
  if (!isDelimited(format)) return said('values', text);
  return toConfirm(
    'values',
    text,
    { quote: 'none' },
    or('to send none around a whole line, if they are straight', { quote: 'loose' }),
  );
}

function guessOf(
  name: string,
  first: string,
  { format, delimiter, quote = 'csv', tags }: SheetOptions,
): Guess {
  const text = `the quotes around each cell of "${name}" are sent with it, such as ${shortened(first)}`;
  if (!isDelimited(format)) return said('values', text);
  if (delimiter !== 'none')
    return toConfirm('values', `${text}; to send none, replace them by " in the file`, { quote });
  const isStraight = first.startsWith('"') && first.endsWith('"');
  // A quote after a number of the list is within the line.
  const none = isWithoutBullets(tags) ? 'loose' : 'csv';
  if (isStraight) return toConfirm('values', text, { quote: 'none' }, or('to send none', { quote: none }));
  return toConfirm('values', `${text}; to send none, remove them from the file`, { quote: 'none' });
}

function refusal(file: string, line: number, text: string): RunsheetError {
  const what = `only the quote " encloses a cell of a CSV, not ${text.charAt(0)}: ${shortened(text)}`;
  const hint =
    'replace the quotes around the cells by " in the file; if they belong to the text, add: --quote csv';
  return problem('E103', { what, hint }, { place: { file, line } });
}
