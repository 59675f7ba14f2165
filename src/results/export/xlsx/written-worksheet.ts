// Writes one sheet of a workbook, row by row. Every text is an inline string and never a formula. The format wants links after the
// rows, so the sheet keeps them in memory until then: Excel accepts 65,530.

import { cellAddress } from '../../../sheet/xlsx/cell-value.ts';
import {
  cellXml,
  cut,
  DECLARATION,
  isTooLong,
  relation,
  RELATIONS,
  relationsXml,
  xmlText,
} from './package-xml.ts';

/** The capacity of a sheet. `rows` includes the header. With more links, Excel offers to repair the file. */
export type SheetCapacity = { readonly rows: number; readonly links: number };
export const EXCEL: SheetCapacity = { rows: 1_048_576, links: 65_530 };

export type SheetLine = {
  readonly cells: readonly (string | number | undefined)[];
  /**
   * The linked cell. The address is computed only if the sheet has room for the link, because S3 addresses
   * are signed one by one.
   */
  readonly link?: { readonly at: number; readonly to: () => string | Promise<string> } | undefined;
  /** Points; absent: as high as the text. */
  readonly height?: number | undefined;
};

/** The formats of `styles.xml`. */
const STYLES = { plain: 0, header: 1, text: 2, link: 3 } as const;

const HEADER_ROWS = 1;
/** Number of rows by which column widths are measured. */
const MEASURED_ROWS = 200;
const MIN_WIDTH = 8;
const MAX_WIDTH = 60;

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

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

  /** Writes as many lines as fit; the remaining lines stay in the iterator. */
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

  relations(drawing: string | undefined): string | undefined {
    const links = this.#links.map(({ to }, at) => ({
      ...relation(`rId${at + 1}`, 'hyperlink', xmlText(to)),
      isExternal: true,
    }));
    const relations = [...links, ...(drawing === undefined ? [] : [relation('drawing', 'drawing', drawing)])];
    return relations.length === 0 ? undefined : relationsXml(relations);
  }

  #add(line: SheetLine): Promise<string> {
    this.rows += 1;
    return this.#rowXml(this.rows + HEADER_ROWS, line, STYLES.text);
  }

  async #rowXml(row: number, { cells, link, height }: SheetLine, style: number): Promise<string> {
    const isLinked = link !== undefined && (await this.#addLink(row, link));
    const tall = height === undefined ? '' : ` ht="${height}" customHeight="1"`;
    const xml = cells.map((value, at) =>
      this.#cellXml(cellAddress(at, row), value, isLinked && link.at === at ? STYLES.link : style),
    );
    return `<row r="${row}"${tall}>${xml.join('')}</row>`;
  }

  async #addLink(row: number, { at, to }: NonNullable<SheetLine['link']>): Promise<boolean> {
    const hasRoom = this.#links.length < this.#capacity.links;
    if (hasRoom) this.#links.push({ cell: cellAddress(at, row), to: await to() });
    else this.linksLeft += 1;
    return hasRoom;
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
      const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, most + 2));
      return `<col min="${at + 1}" max="${at + 1}" width="${width}" style="${STYLES.text}" customWidth="1"/>`;
    });
    return `<cols>${columns.join('')}</cols>`;
  }

  #ending(): string {
    const range = `A1:${cellAddress(Math.max(0, this.#header.length - 1), this.rows + HEADER_ROWS)}`;
    const links = this.#links.map(({ cell }, at) => `<hyperlink ref="${cell}" r:id="rId${at + 1}"/>`);
    return [
      `<autoFilter ref="${range}"/>`,
      links.length === 0 ? '' : `<hyperlinks>${links.join('')}</hyperlinks>`,
      // Otherwise Excel marks each number stored as text with a green triangle.
      `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`,
      this.#hasDrawing ? '<drawing r:id="drawing"/>' : '',
    ].join('');
  }
}

const FILTER_BUTTON = 3;

/** Characters of the first line of a cell. */
const widthOf = (value: string | number | undefined): number =>
  String(value ?? '')
    .slice(0, MAX_WIDTH)
    .split('\n', 1)[0]?.length ?? 0;

async function taken<T>(items: AsyncIterator<T>, most: number): Promise<readonly T[]> {
  const first: T[] = [];
  while (first.length < most) {
    const next = await items.next();
    if (next.done === true) break;
    first.push(next.value);
  }
  return first;
}
