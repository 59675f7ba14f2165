// Fills empty cells from the row above (`--fill-down`), within one group of rows: a product that lacks its picture must not get the
// picture of the product above.

import { isDitto } from './ditto.ts';
import { isTotal } from './total-text.ts';
import { GroupedCells } from './guesses/grouped-cells.ts';
import { problem } from '../errors/error.ts';
import { MEDIA_EXTENSIONS } from '../host/formats/media-types.ts';
import { isWebAddress } from '../host/http/web-address.ts';
import { fingerprint, KeyTable } from './row-keys.ts';
import { cellText, type SheetRecord } from './sheet-record.ts';

/** Filled from above, totals would become a row. */
const isSum = (record: SheetRecord): boolean => record.cells.some((cell) => isTotal(cellText(cell)));

/** Length in characters. A cell of megabytes in each of a million rows would fill the disk. */
const MAX_FILLED = 512 * 1024 ** 2;

/** Names of columns whose value says to which product a row belongs. */
const OF_GROUPS =
  /^(?:handle|(?:item[_\s-]?)?group[_\s-]?id|parent(?:[_\s-]?(?:id|sku))?|product[_\s-]?id)$/i;
const OF_KEYS = /^(?:sku|id|key|article|artikelnummer|item|product)$|[_\s-](?:id|sku|key|no|number)$/i;

/**
 * The column whose value is repeated in each row that continues the row above, such as the handle of a product, or a merged one at
 * the beginning, whose value stands in the first row of its group; undefined if the sheet has none. Equal values stand together.
 * `dittos` gets the wanted columns that say `ditto`.
 */
export async function rowGroups(
  records: AsyncIterable<SheetRecord>,
  names: readonly string[],
  wanted: readonly number[],
  dittos: Set<number> = new Set(),
): Promise<RowGroups | undefined> {
  let candidates = names.flatMap((name, at) => {
    const isNamed = OF_GROUPS.test(name.trim());
    const isLikely = isNamed || OF_KEYS.test(name.trim()) || at === 0;
    return isLikely && !wanted.includes(at)
      ? [{ at, isNamed, table: new KeyTable(), last: '', repeats: 0 }]
      : [];
  });
  const merged = names.slice(0, MERGED).map((_, at) => ({ at, cells: new GroupedCells() }));
  let row = 0;
  for await (const record of records) {
    if (record.fault !== undefined || isSum(record)) continue;
    row += 1;
    for (const { at, cells } of merged) cells.take(cellText(record.cells[at]));
    for (const at of wanted) if (isDitto(cellText(record.cells[at]))) dittos.add(at);
    candidates = candidates.filter((candidate) => {
      const text = cellText(record.cells[candidate.at]).trim();
      if (text === candidate.last) candidate.repeats += 1;
      else if (text !== '' && candidate.table.sight(fingerprint(text), row).nth > 1) return false;
      candidate.last = text;
      return text !== '';
    });
  }
  const groups = candidates.filter(({ isNamed, repeats }) => isNamed || (repeats > 0 && repeats < row - 1));
  const group = groups.find(({ isNamed }) => isNamed) ?? groups[0];
  if (group !== undefined) return { column: group.at, isNamed: group.isNamed };
  const first = merged.find(({ at, cells }) => cells.isGrouped && wanted.every((column) => at <= column));
  return first && { column: first.at, isNamed: false };
}

/** Columns at the beginning that may be merged: the first one, or the one after a key. */
const MERGED = 2;

/** `isNamed`: by the name of its column, as in the exports of shops, which list further pictures of a product below each other. */
export type RowGroups = { readonly column: number; readonly isNamed: boolean };

const FILE = new RegExp(`\\.(?:${MEDIA_EXTENSIONS})$`, 'i');

const isFile = (text: string): boolean => isWebAddress(text) || FILE.test(text);

/**
 * Fills the cells of the columns `wanted`, within a group. A group with several files tells nothing about a row that has none:
 * the file above may show another variant. Where `dittos` mark the cells to fill, an empty cell means nothing.
 */
export async function* filledDown(
  file: string,
  records: AsyncIterable<SheetRecord>,
  wanted: readonly number[],
  groups: RowGroups | undefined,
  dittos: ReadonlySet<number>,
): AsyncGenerator<SheetRecord> {
  const above = new Map<number, unknown>();
  /** The last values, even of another group: a cell that says `ditto` means the row above. */
  const last = new Map<number, unknown>();
  const met = new Set<number>();
  const several = new Set<number>();
  let [length, groupAbove] = [0, ''];
  for await (const record of records) {
    const cells = [...record.cells];
    const own = groups === undefined ? '' : cellText(cells[groups.column]).trim();
    // A merged column has its value in the first row of the group.
    const group = own === '' ? groupAbove : own;
    if (group !== groupAbove) {
      above.clear();
      several.clear();
    }
    groupAbove = group;
    const [filled, left]: [number[], number[]] = [[], []];
    for (const at of isSum(record) ? [] : wanted) {
      const text = cellText(cells[at]).trim();
      const isAsAbove = isDitto(text);
      if (text !== '' && !isAsAbove) {
        const isOther = above.has(at) && cellText(above.get(at)).trim() !== text;
        if (groups?.isNamed === true && isOther && isFile(text)) several.add(at);
        above.set(at, cells[at]);
        last.set(at, cells[at]);
        met.add(at);
      } else if (isAsAbove ? last.has(at) : !dittos.has(at) && above.has(at) && !several.has(at)) {
        cells[at] = (isAsAbove ? last : above).get(at);
        above.set(at, cells[at]);
        length += cellText(cells[at]).length;
        filled.push(at);
      } else {
        if (isAsAbove) cells[at] = '';
        if (met.has(at) && !dittos.has(at)) left.push(at);
      }
    }
    if (length > MAX_FILLED)
      throw problem(
        'E103',
        { what: '--fill-down fills cells with more than 512 MiB of text', hint: 'pass large data by URL' },
        { place: { file, line: record.line } },
      );
    yield { ...record, cells, fill: { filled, left, group: groups?.column } };
  }
}

/** The cells of a column that were filled: how many, how many stay empty because their group has no value or several files, and the column of the groups. */
export type FilledColumn = { readonly cells: number; readonly left: number; readonly group?: string };

/** Counts the filled cells of the rows of a batch. */
export class FilledCells {
  readonly #counts = new Map<number, { cells: number; left: number }>();
  #group: number | undefined;

  take({ fill }: SheetRecord): void {
    if (fill === undefined) return;
    this.#group = fill.group;
    for (const at of fill.filled) this.#of(at).cells += 1;
    for (const at of fill.left) this.#of(at).left += 1;
  }

  /** undefined for a column without any such cell. */
  in(column: number, names: readonly string[]): FilledColumn | undefined {
    const counts = this.#counts.get(column);
    const group = this.#group === undefined ? undefined : names[this.#group];
    return counts && { ...counts, ...(group !== undefined && { group }) };
  }

  #of(column: number): { cells: number; left: number } {
    const counts = this.#counts.get(column) ?? { cells: 0, left: 0 };
    this.#counts.set(column, counts);
    return counts;
  }
}
