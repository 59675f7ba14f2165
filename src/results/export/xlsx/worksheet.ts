// Writes one sheet of a workbook, row by row. Every text is an inline string and never a formula. A spreadsheet wants links after
// the rows, so they are kept until then; it accepts few enough of them.

import { cellXml, cut, DECLARATION, isTooLong, xmlText } from './xml.ts';

/** What a sheet can hold. `rows`: its header counted. With more links, Excel offers to repair the file. */
export type SheetCapacity = { readonly rows: number; readonly links: number };
export const EXCEL: SheetCapacity = { rows: 1_048_576, links: 65_530 };

/** `link`: the address that the text at this index leads to; empty: it is left out as if there was no room. */
export type SheetLine = {
  readonly cells: readonly (string | number | undefined)[];
  readonly link?: { readonly at: number; readonly to: string } | undefined;
  /** Points; absent: as high as the text. */
  readonly height?: number | undefined;
};

/** The formats of `styles.xml`. */
const STYLES = { plain: 0, header: 1, text: 2, link: 3 } as const;

const HEADER_ROWS = 1;
/** Rows that the widths of columns are measured with. */
const MEASURED_ROWS = 200;
const WIDTH_MIN = 8;
const WIDTH_MAX = 60;

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export class Worksheet {
  readonly #header: readonly string[];
  readonly #hasDrawing: boolean;
  readonly #capacity: SheetCapacity;
  readonly #links: { readonly cell: string; readonly to: string }[] = [];
  /** Lines that were written, cells that were cut, and links that found no room. */
  rows = 0;
  cutCells = 0;
  linksLeft = 0;

  constructor(header: readonly string[], hasDrawing: boolean, capacity: SheetCapacity) {
    this.#header = header;
    this.#hasDrawing = hasDrawing;
    this.#capacity = capacity;
  }

  /** The sheet with as many lines as fit; the others stay in the iterator. */
  async *xml(lines: AsyncIterator<SheetLine>, isFirst: boolean): AsyncGenerator<string> {
    const most = this.#capacity.rows - HEADER_ROWS;
    const first = await taken(lines, Math.min(most, MEASURED_ROWS));
    const selected = isFirst ? ' tabSelected="1"' : '';
    yield `${DECLARATION}<worksheet xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheetViews><sheetView${selected} workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>${this.#columns(first)}<sheetData>`;
    yield this.#rowXml(1, { cells: this.#header }, STYLES.header);
    for (const line of first) yield this.#add(line);
    while (this.rows < most) {
      const next = await lines.next();
      if (next.done === true) break;
      yield this.#add(next.value);
    }
    yield `</sheetData>${this.#ending()}</worksheet>`;
  }

  /** The relationships of the sheet; undefined if it has none. */
  relations(drawing: string | undefined): string | undefined {
    const links = this.#links.map(
      ({ to }, at) =>
        `<Relationship Id="rId${at + 1}" Type="${RELATIONS}/hyperlink" Target="${xmlText(to)}" TargetMode="External"/>`,
    );
    if (drawing !== undefined)
      links.push(`<Relationship Id="drawing" Type="${RELATIONS}/drawing" Target="${drawing}"/>`);
    if (links.length === 0) return undefined;
    return `${DECLARATION}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${links.join('')}</Relationships>`;
  }

  #add(line: SheetLine): string {
    this.rows += 1;
    return this.#rowXml(this.rows + HEADER_ROWS, line, STYLES.text);
  }

  #rowXml(row: number, { cells, link, height }: SheetLine, style: number): string {
    const isLinked = link !== undefined && this.#addLink(`${letters(link.at)}${row}`, link.to);
    const tall = height === undefined ? '' : ` ht="${height}" customHeight="1"`;
    const xml = cells.map((value, at) =>
      this.#cellXml(`${letters(at)}${row}`, value, isLinked && link.at === at ? STYLES.link : style),
    );
    return `<row r="${row}"${tall}>${xml.join('')}</row>`;
  }

  #addLink(cell: string, to: string): boolean {
    if (to === '' || this.#links.length === this.#capacity.links) this.linksLeft += 1;
    else this.#links.push({ cell, to });
    return this.linksLeft === 0;
  }

  #cellXml(cell: string, value: string | number | undefined, style: number): string {
    if (value === undefined || value === '') return '';
    if (typeof value === 'number') return Number.isFinite(value) ? `<c r="${cell}"><v>${value}</v></c>` : '';
    if (isTooLong(value)) this.cutCells += 1;
    return `<c r="${cell}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${cellXml(cut(value))}</t></is></c>`;
  }

  #columns(lines: readonly SheetLine[]): string {
    const columns = this.#header.map((name, at) => {
      const most = lines.reduce(
        (width, { cells }) => Math.max(width, widthOf(cells[at])),
        widthOf(name) + FILTER_BUTTON,
      );
      const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, most + 2));
      return `<col min="${at + 1}" max="${at + 1}" width="${width}" style="${STYLES.text}" customWidth="1"/>`;
    });
    return `<cols>${columns.join('')}</cols>`;
  }

  #ending(): string {
    const all = `A1:${letters(Math.max(0, this.#header.length - 1))}${this.rows + HEADER_ROWS}`;
    const links = this.#links.map(({ cell }, at) => `<hyperlink ref="${cell}" r:id="rId${at + 1}"/>`);
    return [
      `<autoFilter ref="${all}"/>`,
      links.length === 0 ? '' : `<hyperlinks>${links.join('')}</hyperlinks>`,
      // Otherwise each number of the sheet would have a green triangle.
      `<ignoredErrors><ignoredError sqref="${all}" numberStoredAsText="1"/></ignoredErrors>`,
      this.#hasDrawing ? '<drawing r:id="drawing"/>' : '',
    ].join('');
  }
}

const FILTER_BUTTON = 3;

/** Characters of the first line of a cell. */
const widthOf = (value: string | number | undefined): number =>
  String(value ?? '')
    .slice(0, WIDTH_MAX)
    .split('\n', 1)[0]?.length ?? 0;

/** The name of a column, from 0: A … Z, AA … */
export function letters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : letters(Math.floor(column / 26) - 1) + last;
}

async function taken<T>(items: AsyncIterator<T>, most: number): Promise<readonly T[]> {
  const first: T[] = [];
  while (first.length < most) {
    const next = await items.next();
    if (next.done === true) break;
    first.push(next.value);
  }
  return first;
}
