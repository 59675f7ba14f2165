// Writes a workbook: sheets one after another, then the files that name them.

import { markupText } from '../../../errors/outside-text.ts';
import { cellAddress } from '../../../sheet/xlsx/cell-value.ts';
import { ZipWriter } from '../zip-export.ts';
import { inPieces, type Sink } from '../export-rows.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPES = 'application/vnd.openxmlformats-officedocument';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** A picture and its place on the sheet. */
export type PlacedPicture = Omit<Picture, 'name'> & { readonly jpeg: Uint8Array };

type SheetContent = {
  readonly name: string;
  readonly header: readonly string[];
  readonly lines: AsyncIterable<SheetLine>;
  /** Pictures over the rows of the first of these sheets, known after its rows were written. */
  readonly pictures?: (() => AsyncIterable<PlacedPicture>) | undefined;
};

/** Content that the sheets could not hold. */
export type SheetLimits = { readonly cutCells: number; readonly linksLeft: number };

export class WorkbookWriter {
  readonly #zip: ZipWriter;
  readonly #names: string[] = [];
  readonly #capacity: SheetCapacity;
  #hasDrawing = false;

  constructor(sink: Sink, capacity: SheetCapacity = EXCEL) {
    this.#zip = new ZipWriter(sink);
    this.#capacity = capacity;
  }

  /** Adds the lines as a sheet; lines that do not fit become further sheets. */
  async addSheet({ name, header, lines, pictures }: SheetContent): Promise<SheetLimits> {
    const iterator = peekable(lines[Symbol.asyncIterator]());
    let [cutCells, linksLeft, part] = [0, 0, 0];
    do {
      part += 1;
      const hasDrawing = part === 1 && pictures !== undefined;
      const sheet = new Worksheet(header, hasDrawing, this.#capacity);
      this.#names.push(part === 1 ? name : `${name} ${part}`);
      const file = `sheet${this.#names.length}.xml`;
      await this.#zip.add(`xl/worksheets/${file}`, inPieces(sheet.xml(iterator, this.#names.length === 1)));
      if (hasDrawing) await this.#draw(pictures());
      const relations = sheet.relations(hasDrawing ? '../drawings/drawing1.xml' : undefined);
      if (relations !== undefined) await this.#text(`xl/worksheets/_rels/${file}.rels`, relations);
      cutCells += sheet.cutCells;
      linksLeft += sheet.linksLeft;
    } while (await iterator.hasMore());
    return { cutCells, linksLeft };
  }

  async end(): Promise<void> {
    await this.#text('xl/styles.xml', STYLES_XML);
    await this.#text('xl/workbook.xml', this.#workbook());
    await this.#text('xl/_rels/workbook.xml.rels', this.#relations());
    await this.#text('_rels/.rels', relationsXml([relation('rId1', 'officeDocument', 'xl/workbook.xml')]));
    await this.#text('[Content_Types].xml', this.#contentTypes());
    await this.#zip.end();
  }

  async #draw(pictures: AsyncIterable<PlacedPicture>): Promise<void> {
    this.#hasDrawing = true;
    const drawn: Picture[] = [];
    for await (const { jpeg, ...placed } of pictures) {
      const name = `picture${drawn.length + 1}.jpg`;
      await this.#zip.add(`xl/media/${name}`, one(jpeg), 'stored');
      drawn.push({ ...placed, name });
    }
    await this.#text('xl/drawings/drawing1.xml', drawingXml(drawn));
    await this.#text('xl/drawings/_rels/drawing1.xml.rels', drawingRelations(drawn));
  }

  #text(name: string, text: string): Promise<void> {
    return this.#zip.add(name, one(text));
  }

  #workbook(): string {
    const sheets = this.#names.map(
      (name, at) => `<sheet name="${xmlText(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
    );
    return `${DECLARATION}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${RELATIONS}"><bookViews><workbookView/></bookViews><sheets>${sheets.join('')}</sheets></workbook>`;
  }

  #relations(): string {
    const sheets = this.#names.map((_, at) =>
      relation(`rId${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`),
    );
    return relationsXml([...sheets, relation('styles', 'styles', 'styles.xml')]);
  }

  #contentTypes(): string {
    const main = `${TYPES}.spreadsheetml`;
    const parts = [
      ['/xl/workbook.xml', `${main}.sheet.main+xml`],
      ['/xl/styles.xml', `${main}.styles+xml`],
      ...this.#names.map((_, at) => [`/xl/worksheets/sheet${at + 1}.xml`, `${main}.worksheet+xml`]),
      ...(this.#hasDrawing ? [['/xl/drawings/drawing1.xml', `${TYPES}.drawing+xml`]] : []),
    ].map(([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`);
    return `${DECLARATION}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="jpg" ContentType="image/jpeg"/>${parts.join('')}</Types>`;
  }
}

type Relation = {
  readonly id: string;
  readonly type: string;
  readonly target: string;
  readonly isExternal?: boolean;
};

const relation = (id: string, type: string, target: string): Relation => ({ id, type, target });

const relationsXml = (relations: readonly Relation[]): string =>
  `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">${relations
    .map(
      ({ id, type, target, isExternal }) =>
        `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"${isExternal ? ' TargetMode="External"' : ''}/>`,
    )
    .join('')}</Relationships>`;

/** Plain cells, the header, text that stays text when it is edited, and links. */
const STYLES_XML = `${DECLARATION}<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font><font><u/><sz val="11"/><color rgb="FF0563C1"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFEDEDED"/></patternFill></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="2" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
}

function peekable<T>(
  inner: AsyncIterator<T>,
): AsyncIterator<T> & { readonly hasMore: () => Promise<boolean> } {
  let waiting: IteratorResult<T> | undefined;
  return {
    next: async () => {
      const next = waiting ?? (await inner.next());
      waiting = undefined;
      return next;
    },
    hasMore: async () => {
      waiting ??= await inner.next();
      return waiting.done !== true;
    },
  };
}

// The pictures that lie over the rows of a sheet.
/** `name`: its file in the workbook. */
type Picture = {
  readonly name: string;
  /** Column and row from 0, the header counted. */
  readonly column: number;
  readonly row: number;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly text: string;
};

const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
/** Units of a drawing in a pixel. */
const UNITS = 9_525;
const MARGIN = 2 * UNITS;

function drawingXml(pictures: readonly Picture[]): string {
  return `${DECLARATION}<xdr:wsDr xmlns:xdr="${DRAWING}/spreadsheetDrawing" xmlns:a="${DRAWING}/main" xmlns:r="${RELATIONS}">${pictures.map(anchor).join('')}</xdr:wsDr>`;
}

const drawingRelations = (pictures: readonly Picture[]): string =>
  relationsXml(pictures.map(({ name }, at) => relation(`rId${at + 1}`, 'image', `../media/${name}`)));

function anchor({ column, row, width, height, text }: Picture, at: number): string {
  const from = `<xdr:from><xdr:col>${column}</xdr:col><xdr:colOff>${MARGIN}</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>${MARGIN}</xdr:rowOff></xdr:from>`;
  const size = `cx="${width * UNITS}" cy="${height * UNITS}"`;
  const shown = xmlText(text);
  return `<xdr:oneCellAnchor>${from}<xdr:ext ${size}/><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="${at + 2}" name="${shown}" descr="${shown}"/><xdr:cNvPicPr><a:picLocks noChangeAspect="1"/></xdr:cNvPicPr></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId${at + 1}"/><a:stretch><a:fillRect/></a:stretch></xdr:blipFill><xdr:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${size}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></xdr:spPr></xdr:pic><xdr:clientData/></xdr:oneCellAnchor>`;
}

// Writes one sheet of a workbook, row by row. Every text is an inline string and never a formula. A spreadsheet wants links after
// the rows, so they are kept until then: it accepts 65,530 of them.

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
const WIDTH_MIN = 8;
const WIDTH_MAX = 60;

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

class Worksheet {
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
      const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, most + 2));
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
    .slice(0, WIDTH_MAX)
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

// Text inside XML, as spreadsheets expect it.

export const CELL_CHARACTERS = 32_767;

/** Characters that XML 1.0 cannot contain. A lone surrogate is replaced before. */
// eslint-disable-next-line no-control-regex
const ILLEGAL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const xmlText = (text: string): string => markupText(text.toWellFormed().replaceAll(ILLEGAL, ''));

/** Text that a spreadsheet would read as an escaped character. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

/** The text of a cell. XML turns a carriage return into a line feed, so it is escaped as spreadsheets do. */
const cellXml = (text: string): string =>
  PLAIN.test(text) ? text : xmlText(text.replaceAll(LOOKS_ESCAPED, '_x005F_')).replaceAll('\r', '_x000D_');

/** Text that needs no escaping, as in most cells. */
const PLAIN = /^[ !#-%'-;=?-^`-~\u00A0-\uD7FF\n]*$/;

const isTooLong = (text: string): boolean => text.length > CELL_CHARACTERS;

/** The beginning of a text, never with half a character at its end. */
const cut = (text: string): string =>
  isTooLong(text) ? text.slice(0, CELL_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '') : text;
