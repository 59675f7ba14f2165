// Rows that have more fields than the header: cells of columns without a name, or parts of a text whose commas are not in
// quotes, and then the column that has them.

import { rangesText } from '../../options/written-options.ts';
import { plainNumber } from '../number-signs.ts';
import { isNumeric, WITH_UNIT, NOTHING_WORDS } from '../parse-cell.ts';
import { type RecordFault, shortened } from '../sheet-record.ts';
import { type SheetOptions, rangesOf } from '../sheet-source.ts';
import { NOTHING, type GuessPart, toConfirm } from './guess.ts';

type Mapped = { readonly column: number; readonly kind: string };
/** For each field of a row: whether it may be numeric, and whether it begins with a blank. */
type RowShape = { readonly numbers: readonly boolean[]; readonly blanks: readonly boolean[] };

const MAX_ROWS = 1000;

/** Rows with cells beyond the header, and the first of these cells. */
type SurplusRows = { count: number; readonly lines: number[]; first: string };

export class LongRows {
  readonly cells: SurplusRows = { count: 0, lines: [], first: '' };
  /** Rows with commas beyond the header. */
  count = 0;
  first = '';
  readonly lines: number[] = [];
  readonly #shapes: RowShape[] = [];
  readonly #kinds: ReadonlyMap<number, string>;
  readonly #names: readonly string[];
  readonly #width: number;
  /** Numeric columns: by their input, or because no row has text there. */
  readonly #numeric: boolean[];
  /** Unmapped columns, whose values show their type. */
  readonly #unmapped: readonly number[];
  #isFirst = true;

  constructor(mapped: readonly Mapped[], names: readonly string[]) {
    [this.#names, this.#width] = [names, names.length];
    const kinds = new Map(mapped.map(({ column, kind }) => [column, kind]));
    this.#kinds = kinds;
    this.#numeric = names.map((_, at) => isNumeric(kinds.get(at) ?? ''));
    this.#unmapped = [...this.#numeric.keys()].filter((at) => !kinds.has(at));
  }

  put(line: number, cells: readonly string[], surplus: NonNullable<RecordFault['surplus']>): void {
    if (surplus.of === 'cells') {
      if (this.cells.count === 0) this.cells.first = shortened(surplus.first);
      this.cells.count += 1;
      if (this.cells.lines.length < MAX_ROWS) this.cells.lines.push(line);
      return;
    }
    if (this.count === 0) this.first = shortened(cells.join(','));
    this.count += 1;
    if (this.lines.length === MAX_ROWS) return;
    this.lines.push(line);
    this.#shapes.push({ numbers: cells.map(mayBeNumber), blanks: cells.map((text) => text.startsWith(' ')) });
  }

  /** Takes a row with as many fields as the header. */
  takeEven(cells: readonly string[]): void {
    for (const at of this.#unmapped)
      if (this.#isFirst || this.#numeric[at] === true) this.#numeric[at] = mayBeNumber(cells[at] ?? '');
    this.#isFirst = false;
  }

  /** The only text column that can contain the surplus of all rows. */
  get column(): string | undefined {
    const fits = [...this.#names.keys()].filter(
      (column) => this.isText(column) && this.#shapes.every((shape) => this.#fits(shape, column)),
    );
    // People put a space after a comma in text, and none between cells.
    const spaced = fits.filter((column) =>
      this.#shapes.every(({ blanks }) =>
        blanks.slice(column + 1, column + 1 + blanks.length - this.#width).every(Boolean),
      ),
    );
    const [only, ...otherColumns] = fits.length > 1 ? spaced : fits;
    return only === undefined || otherColumns.length > 0 ? undefined : this.#names[only];
  }

  /** Text columns that are data may contain commas too. */
  isText(column: number): boolean {
    return /^(?:string|auto)$/.test(this.#kinds.get(column) ?? 'string') && this.#numeric[column] !== true;
  }

  #fits({ numbers }: RowShape, column: number): boolean {
    const surplus = numbers.length - this.#width;
    // A bare number is not part of a text.
    if (numbers.slice(column, column + surplus + 1).includes(true)) return false;
    const remaining = numbers.toSpliced(column, surplus + 1, false);
    return remaining.every((may, at) => may || at === column || this.#numeric[at] !== true);
  }
}

const mayBeNumber = (text: string): boolean =>
  /^(?:[-+]?[\d.,]+\s*%?)?$/.test(plainNumber(text.trim())) ||
  WITH_UNIT.test(text.trim()) ||
  NOTHING_WORDS.has(text.trim().toLowerCase());

/** `rows 4-6 ("a, b")` */
export function rowsText({ count, lines, first }: Pick<LongRows, 'count' | 'lines' | 'first'>): string {
  return `${linesText({ count, lines })} ("${first}")`;
}

/** `rows 4-6 and 2 more`: the first lines of `count` rows. */
export function linesText({ count, lines }: Pick<LongRows, 'count' | 'lines'>): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : '';
  return `row${count === 1 ? '' : 's'} ${rangesText(rangesOf(lines))}${more}`;
}

/** Rows whose surplus is known for cells, as each is enclosed or no comma separates them. */
export function surplusGuess({ cells }: LongRows, { longRows }: SheetOptions): GuessPart {
  if (longRows === true || cells.count === 0) return NOTHING;
  const { count, first } = cells;
  const text = `${linesText(cells)} ${count === 1 ? 'has' : 'have'} cells beyond the header, such as "${first}", which are data`;
  return { options: { longRows: true }, guesses: [toConfirm('rows', text, { longRows: true })] };
}

export function longGuess(long: LongRows, { unquoted }: SheetOptions): GuessPart {
  const { column } = long;
  if (unquoted !== undefined || column === undefined || long.count === 0) return NOTHING;
  const text = `the commas that rows have more than the header belong to "${column}": ${rowsText(long)}`;
  return { options: { unquoted: column }, guesses: [toConfirm('rows', text, { unquoted: column })] };
}
