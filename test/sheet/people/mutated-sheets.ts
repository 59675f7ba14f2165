// Small sheets of our own, written as people and programs do: other separators, quotes, encodings, titles, comments, notes in headers,
// words for nothing. Each cell carries the number of its row, so that a row with cells of another row shows.

import { numbersFrom } from '../../../src/run-service/chance.ts';
import { Readable } from 'node:stream';
import { RunsheetError } from '../../../src/errors/error.ts';
import { mapColumns } from '../../../src/sheet/column-mapping.ts';
import { unconfirmed } from '../../../src/sheet/guesses/guess.ts';
import { settleSheet } from '../../../src/sheet/guesses/settle-sheet.ts';
import { columnsOf, recordsOf } from '../../../src/sheet/read-records.ts';
import { rowReader } from '../../../src/sheet/row-reader.ts';
import { formatOf } from '../../../src/sheet/recognized-format.ts';
import { input } from '../laying.ts';

const INPUTS = [
  input('prompt', 'string', { required: true }),
  input('negative_prompt', 'string'),
  input('seed', 'int'),
  input('cfg', 'float'),
  input('style', 'string'),
];

type Mutated = {
  readonly name: string;
  readonly bytes: Buffer;
  readonly rows: number;
  /** Headers that resemble an input, of columns that have values. */
  readonly meant: readonly string[];
};

const HEADERS: readonly (readonly string[])[] = [
  ['prompt', 'Prompt', 'PROMPT *', 'Prompt (max. 77 words)', 'promt', 'Positive prompt'],
  ['negative_prompt', 'Negative Prompt', 'negative', 'Negative prompt (optional)'],
  ['seed', 'Seed', 'Seed (leave empty)', 'Seeds', 'noise_seed'],
  ['cfg', 'CFG', 'cfg_scale', 'CFG [1-30]', 'guidance scale'],
  ['style', 'Style:', 'Style', 'style_preset', 'stlye'],
];
const OTHERS = ['note', 'price', 'Variant SKU', 'status', ''];
const NOTHINGS = ['', '', '', 'N/A', '-', 'None', 'nan', ' '];

/** Names a row within a text. */
const mark = (row: number): string => `r${row}z`;

function mutatedSheet(seed: number): Mutated {
  const random = numbersFrom(seed);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const happens = (share: number): boolean => random() < share;
  const columns = HEADERS.flatMap((names, at) =>
    at === 0 || happens(0.6) ? [{ at, name: pick(names) }] : [],
  );
  const extraColumns = happens(0.4) ? [pick(OTHERS)] : [];
  const header = [...columns.map(({ name }) => name), ...extraColumns];
  const rows = 2 + Math.floor(random() * 7);
  const separator = pick([',', ',', ',', ';', '\t', '|']);
  const isSloppy = happens(0.35);
  const text = (row: number): string => {
    const words = [
      mark(row),
      pick(['a fox', 'Größe', 'neon, red', 'two\nlines', 'x; y', '5" disk', '"Sunny" lamp', 'a|b', '# tag']),
    ];
    return (happens(0.5) ? words : words.toReversed()).join(' ');
  };
  const filled = new Set([0]);
  const value = (at: number, row: number): string => {
    if (at === 0) return text(row);
    if (happens(0.12)) return pick(NOTHINGS);
    if (at === 2) return String(100_000 + row);
    if (at === 3) return pick(['7', '7.5', '6,5', '60%', '.5', '7x']);
    return text(row);
  };
  const quoted = (cell: string): string => {
    if (happens(0.02) && !/["\n]/.test(cell)) return cell;
    const needs = cell.includes(separator) || /["\n]/.test(cell);
    if (isSloppy && happens(0.5) && !cell.includes(separator) && !cell.includes('\n')) return cell;
    if (isSloppy && happens(0.03)) return `"${cell}`;
    return needs || happens(0.1) ? `"${cell.replaceAll('"', '""')}"` : cell;
  };
  const lines = Array.from({ length: rows }, (_, index) => {
    const row = index + 1;
    const cells = [...columns.map(({ at }) => value(at, row)), ...extraColumns.map(() => text(row))];
    const kept = happens(0.05) && cells.length > 1 ? cells.slice(0, -1) : cells;
    for (const [place, { at }] of columns.entries())
      if (!NOTHINGS.includes(kept[place] ?? '')) filled.add(at);
    return kept.map(quoted).join(separator);
  });
  const end = pick(['\n', '\r\n']);
  const textLines = [
    ...(happens(0.1) ? [`Campaign ${seed}`] : []),
    header.map(quoted).join(separator),
    ...lines.flatMap((line) => [
      ...(happens(0.04) ? ['# a comment'] : []),
      ...(happens(0.04) ? [''] : []),
      line,
    ]),
    ...(happens(0.08) ? [pick(['```', `Total${separator}${separator}12`, '---'])] : []),
  ].join(end);
  const isUtf16 = happens(0.05);
  const bytes = isUtf16
    ? Buffer.from(`\ufeff${textLines}`, 'utf16le')
    : Buffer.from(
        `${happens(0.15) ? '\ufeff' : ''}${textLines}${happens(0.8) ? end : ''}`,
        happens(0.1) ? 'latin1' : 'utf8',
      );
  return {
    name: separator === '\t' && happens(0.5) ? 'a.tsv' : 'a.csv',
    bytes,
    rows,
    meant: columns.filter(({ at }) => filled.has(at)).map(({ name }) => name),
  };
}

/** The fault in how a sheet was read; undefined if it was read rightly, asked about or refused. */
async function faultOf({ name, bytes, rows, meant }: Mutated): Promise<string | undefined> {
  const source = { name, open: () => Readable.from([bytes]) };
  const draft = { format: formatOf(name, bytes), map: {}, set: {}, drop: [], types: {} };
  try {
    const { options, guesses, problems } = await settleSheet(source, draft, INPUTS);
    if (problems.length > 0) return undefined;
    const columns = await columnsOf(source, options);
    const plan = mapColumns(name, columns, options, INPUTS);
    if (plan.problems.length > 0) return undefined;
    const questions = unconfirmed(guesses);
    const reader = rowReader(plan);
    const seen: number[] = [];
    let row = 0;
    for await (const record of recordsOf(
      source,
      options,
      columns.map((column) => column.name),
    )) {
      row += 1;
      const { inputs, wrong } = reader(record, row);
      if (wrong.length > 0) return undefined;
      const marks = [...inputs.matchAll(/r(\d+)z|"seed":1000(\d\d)/g)].map(([, text, number]) =>
        Number(text ?? number),
      );
      const [first, ...moreMarks] = new Set(marks);
      // A stray quote may also look like a mark that repeats the cell above, and a short row like the rest of the one above.
      const isAsked = questions.some(
        ({ options: { quote, fillDown, unquoted } }) => (quote ?? fillDown ?? unquoted) !== undefined,
      );
      if (moreMarks.length > 0 && !isAsked)
        return `a row has cells of the rows ${[first, ...moreMarks].join(', ')}`;
      seen.push(...new Set(marks));
    }
    if (questions.length === 0 && new Set(seen).size < rows)
      return `${rows - new Set(seen).size} rows are missing`;
    // With quotes in them, the values of a column may fit no input.
    if (guesses.some(({ options: stated }) => stated.quote !== undefined)) return undefined;
    return droppedOf(meant, plan.unused, questions.map(({ text }) => text).join(' '));
  } catch (error) {
    if (error instanceof RunsheetError) return undefined;
    throw error;
  }
}

function droppedOf(
  meant: readonly string[],
  unused: readonly string[],
  questionText: string,
): string | undefined {
  const dropped = meant.find(
    (name) => unused.includes(name.trim()) && !questionText.includes(`"${name.trim()}"`),
  );
  return dropped === undefined ? undefined : `the column "${dropped}" is dropped without a word`;
}

/** Sheets for each second of processor time. Throws for the first one that is read wrongly, with its seed. */
export async function readMutated(from: number, count: number): Promise<number> {
  const began = process.cpuUsage();
  for (let seed = from; seed < from + count; seed += 1) {
    const sheet = mutatedSheet(seed);
    const fault = await faultOf(sheet).catch((error: unknown) => `it crashes: ${String(error)}`);
    if (fault !== undefined) throw new Error(`sheet ${seed}: ${fault}\n${sheet.bytes.toString('utf8')}`);
  }
  const { user, system } = process.cpuUsage(began);
  return count / ((user + system) / 1e6);
}
