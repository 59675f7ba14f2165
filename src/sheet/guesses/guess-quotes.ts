// Guesses whether quotes in a CSV enclose fields. Many programs write tab-separated tables, and people
// write inches, without doubling quotes; a quote at the start of a field could then swallow the next rows.

import {
  QuoteError,
  type CsvParser,
  type CsvRecord,
  type QuoteFault,
  type Quoting,
} from '../csv/csv-parser.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { parsed, parserOf } from '../csv/csv.ts';
import { shortened } from '../sheet-record.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { type Alternative, or, said, type Settled, toConfirm } from './guess.ts';

/** Rows that show which columns are numeric. */
const SAMPLED = 200;

type TakenIn = { readonly line: number; readonly lines: number; readonly count: number };

type QuoteSurvey = {
  readonly letters: CsvParser['letters'];
  readonly isEven: boolean;
  /** The first record that swallows lines which look like rows, and how many such records there are. */
  readonly takesIn: TakenIn | undefined;
  readonly fault: QuoteFault | undefined;
};

/** Sets `quote`, unless every quote encloses a field and swallows no rows. */
export async function guessedQuotes(source: SheetSource, options: SheetOptions): Promise<Settled> {
  if (!(await hasQuotes(source))) return { options, guesses: [] };
  const isTab = parserOf(options).delimiter === '\t';
  const { letters, isEven, takesIn, fault } = await look(source, options, 'loose');
  const isStrict = fault === undefined && letters.behind === 0;
  const first = `such as ${shortened(letters.first || '"')}`;
  const settled = (
    quote: Quoting,
    text: string,
    isSure: boolean,
    ...alternatives: readonly Alternative[]
  ): Settled => ({
    options: { ...options, quote },
    guesses: [(isSure ? said : toConfirm)('separator', text, { quote }, ...alternatives)],
  });
  const escaped = isStrict ? undefined : await look(source, options, 'backslash');
  if (escaped?.isEven === true && escaped.fault === undefined && escaped.letters.escaped > 0)
    return settled('backslash', `quotes within cells are written as ${String.raw`\"`}`, true);
  if (isTab && (fault !== undefined || letters.behind > 0))
    return settled('none', `quotes are letters, ${first}`, true);
  if (fault !== undefined || letters.spread > 0) {
    const split = fault?.kind === 'too long' ? undefined : await look(source, options, 'none');
    if (split?.isEven !== true || split.fault !== undefined) return { options, guesses: [] };
    const which = fault === undefined ? 'one of them' : `the one in line ${fault.line}`;
    return settled('none', `all quotes are letters: ${which} is never closed`, false);
  }
  if (takesIn !== undefined) {
    const { line, lines, count } = takesIn;
    // Read as one row, the lines would be lost, and only their owner knows what the quote means.
    if (!isTab) throw swallowing(source.name, line, lines);
    const rows = `row ${line}${count > 1 ? ` and ${count - 1} more` : ''}`;
    return settled(
      'none',
      `quotes are letters: in ${rows}, they would take in ${lines} lines`,
      false,
      or('if they enclose cells', { quote: 'csv' }),
    );
  }
  if (letters.behind > 0)
    return isEven
      ? settled('loose', `quotes around a part of a field are letters, ${first}`, false)
      : { options, guesses: [] };
  if (letters.inside === 0) return { options, guesses: [] };
  const inside = `quotes within a field are letters, ${first}`;
  if (letters.needless === 0 || letters.needed > 0) return settled('loose', inside, true);
  // No field needs its quotes, so all may be letters, as in a list of spoken texts.
  const enclosing = `those around ${shortened(letters.whole)}`;
  return /[,;]/.test(parserOf(options).delimiter ?? '')
    ? settled(
        'loose',
        `${inside}, but ${enclosing} enclose it`,
        false,
        or('if all are letters', { quote: 'none' }),
      )
    : settled(
        'none',
        `${inside}, and so are ${enclosing}`,
        false,
        or('if the latter enclose cells', { quote: 'loose' }),
      );
}

async function hasQuotes(source: SheetSource): Promise<boolean> {
  for await (const part of source.open()) if ((part as Uint8Array).includes(QUOTE)) return true;
  return false;
}

const QUOTE = 0x22;

function swallowing(file: string, line: number, lines: number): RunsheetError {
  const what = `the quote that opens here takes in ${lines} lines that look like rows`;
  const hint =
    'close it in its own row; if quotes are letters: --quote none; if one cell has these lines: --quote csv';
  return problem('E103', { what, hint }, { place: { file, line } });
}

async function look(source: SheetSource, options: SheetOptions, quote: Quoting): Promise<QuoteSurvey> {
  const parser = parserOf({ ...options, quote });
  const rows = new RowsTakenIn(parser.delimiter);
  let fault: QuoteFault | undefined;
  try {
    for await (const record of parsed(source, parser, options)) {
      if (record.fault === undefined) rows.add(record);
      fault ??= record.fault;
    }
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error;
    ({ fault } = error);
  }
  return { letters: parser.letters, fault, isEven: rows.isEven, takesIn: rows.found };
}

/** Finds records whose lines look like rows: as many fields as most records, and numbers in numeric columns. */
class RowsTakenIn {
  readonly #delimiter: string | undefined;
  readonly #widths = new Map<number, number>();
  readonly #sample: FieldShape[] = [];
  readonly #suspects: {
    readonly line: number;
    readonly lines: number;
    readonly width: number;
    readonly first: FieldShape;
    /** The shapes of its further lines. */
    readonly shapes: ReadonlySet<FieldShape>;
  }[] = [];

  constructor(delimiter: string | undefined) {
    this.#delimiter = delimiter;
  }

  add({ line, fields, raw }: CsvRecord): void {
    const width = fields.length;
    // Titles above the header are not rows.
    if (width === 1 && this.#widths.size === 0) return;
    this.#widths.set(width, (this.#widths.get(width) ?? 0) + 1);
    if (raw === undefined) {
      if (this.#sample.length < SAMPLED) this.#sample.push(shapeOf(fields));
    } else if (this.#delimiter !== undefined && this.#suspects.length < SAMPLED) {
      const delimiter = this.#delimiter;
      const lines = raw.split('\n');
      const [first = '', ...shapes] = lines.map((rawLine) =>
        shapeOf(rawLine.replaceAll('"', '').split(delimiter)),
      );
      this.#suspects.push({ line, lines: lines.length, width, first, shapes: new Set(shapes) });
    }
  }

  get #width(): number {
    return [...this.#widths].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
  }

  /** Whether all records from the header on have the same number of fields. */
  get isEven(): boolean {
    return this.#widths.size < 2;
  }

  get found(): QuoteSurvey['takesIn'] {
    const width = this.#width;
    const [, ...rows] = this.#sample.filter((shape) => shape.length === width);
    const numbers = Array.from(
      { length: width },
      (_, at) => rows.length > 0 && rows.every((shape) => shape[at] === 'n'),
    );
    const isRow = (shape: FieldShape): boolean =>
      shape.length === width && numbers.every((isNumeric, at) => !isNumeric || shape[at] === 'n');
    const real =
      width > 2 || numbers.includes(true)
        ? this.#suspects.filter(
            (suspect) => [...suspect.shapes].every(isRow) && (isRow(suspect.first) || suspect.width < width),
          )
        : [];
    const [suspect] = real;
    if (suspect === undefined) return undefined;
    const { line, lines } = suspect;
    return { line, lines, count: real.length };
  }
}

/** A letter for each field: n for a number. Long rows are not kept. */
type FieldShape = string;

const shapeOf = (fields: readonly string[]): FieldShape =>
  fields.map((text) => (isNumber(text) ? 'n' : 't')).join('');

const isNumber = (text: string): boolean => /^(?:[-+]?[\d.,]+)?$/.test(text.trim());
