// A workbook: sheets that are written one after another, and the files that name them, which come last.

import { ZipWriter } from '../zip-writer.ts';
import { inPieces, type Sink } from '../sink.ts';
import { EXCEL, RELATIONS, Worksheet, type SheetCapacity, type SheetLine } from './worksheet.ts';
import { DECLARATION, xmlText } from './xml.ts';

const TYPES = 'application/vnd.openxmlformats-officedocument';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** A picture as a file, and where it lies on its sheet. */
export type PlacedPicture = Omit<Picture, 'name'> & { readonly jpeg: Uint8Array };

export type SheetContent = {
  readonly name: string;
  readonly header: readonly string[];
  readonly lines: AsyncIterable<SheetLine>;
  /** Pictures over the rows of the first of these sheets, known after its rows were written. */
  readonly pictures?: (() => AsyncIterable<PlacedPicture>) | undefined;
};

/** What the sheets could not take. */
export type SheetLimits = {
  readonly cutCells: number;
  readonly linksLeft: number;
  readonly pictures: number;
};

export class WorkbookWriter {
  readonly #zip: ZipWriter;
  readonly #names: string[] = [];
  readonly #capacity: SheetCapacity;
  #hasDrawing = false;

  constructor(sink: Sink, capacity: SheetCapacity = EXCEL) {
    this.#zip = new ZipWriter(sink);
    this.#capacity = capacity;
  }

  /** Adds the lines as a sheet, and those that do not fit as further sheets. */
  async addSheet({ name, header, lines, pictures }: SheetContent): Promise<SheetLimits> {
    const iterator = peekable(lines[Symbol.asyncIterator]());
    let [cutCells, linksLeft, drawn, part] = [0, 0, 0, 0];
    do {
      part += 1;
      const hasDrawing = part === 1 && pictures !== undefined;
      const sheet = new Worksheet(header, hasDrawing, this.#capacity);
      this.#names.push(part === 1 ? name : `${name} ${part}`);
      const file = `sheet${this.#names.length}.xml`;
      await this.#zip.add(`xl/worksheets/${file}`, inPieces(sheet.xml(iterator, this.#names.length === 1)));
      if (hasDrawing) drawn = await this.#draw(pictures());
      const relations = sheet.relations(hasDrawing ? '../drawings/drawing1.xml' : undefined);
      if (relations !== undefined) await this.#text(`xl/worksheets/_rels/${file}.rels`, relations);
      cutCells += sheet.cutCells;
      linksLeft += sheet.linksLeft;
    } while (await iterator.hasMore());
    return { cutCells, linksLeft, pictures: drawn };
  }

  async end(): Promise<void> {
    await this.#text('xl/styles.xml', STYLES_XML);
    await this.#text('xl/workbook.xml', this.#workbook());
    await this.#text('xl/_rels/workbook.xml.rels', this.#relations());
    await this.#text(
      '_rels/.rels',
      relationsXml([{ id: 'rId1', type: `${RELATIONS}/officeDocument`, target: 'xl/workbook.xml' }]),
    );
    await this.#text('[Content_Types].xml', this.#contentTypes());
    await this.#zip.end();
  }

  async #draw(pictures: AsyncIterable<PlacedPicture>): Promise<number> {
    this.#hasDrawing = true;
    const drawn: Picture[] = [];
    for await (const { jpeg, ...placed } of pictures) {
      const name = `picture${drawn.length + 1}.jpg`;
      await this.#zip.add(`xl/media/${name}`, one(jpeg), 'stored');
      drawn.push({ ...placed, name });
    }
    await this.#text('xl/drawings/drawing1.xml', drawingXml(drawn));
    await this.#text('xl/drawings/_rels/drawing1.xml.rels', drawingRelations(drawn));
    return drawn.length;
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
    const sheets = this.#names.map((_, at) => ({
      id: `rId${at + 1}`,
      type: `${RELATIONS}/worksheet`,
      target: `worksheets/sheet${at + 1}.xml`,
    }));
    return relationsXml([...sheets, { id: 'styles', type: `${RELATIONS}/styles`, target: 'styles.xml' }]);
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

type Relation = { readonly id: string; readonly type: string; readonly target: string };

const relationsXml = (relations: readonly Relation[]): string =>
  `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">${relations
    .map(({ id, type, target }) => `<Relationship Id="${id}" Type="${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** Plain cells, the header, text that stays text when it is edited, and links. */
const STYLES_XML = `${DECLARATION}<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font><font><u/><sz val="11"/><color rgb="FF0563C1"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFEDEDED"/></patternFill></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="2" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/** An iterator that can say whether anything is left. */
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
  `${DECLARATION}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${pictures
    .map(
      ({ name }, at) =>
        `<Relationship Id="rId${at + 1}" Type="${RELATIONS}/image" Target="../media/${name}"/>`,
    )
    .join('')}</Relationships>`;

function anchor({ column, row, width, height, text }: Picture, at: number): string {
  const from = `<xdr:from><xdr:col>${column}</xdr:col><xdr:colOff>${MARGIN}</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>${MARGIN}</xdr:rowOff></xdr:from>`;
  const size = `cx="${width * UNITS}" cy="${height * UNITS}"`;
  const shown = xmlText(text);
  return `<xdr:oneCellAnchor>${from}<xdr:ext ${size}/><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="${at + 2}" name="${shown}" descr="${shown}"/><xdr:cNvPicPr><a:picLocks noChangeAspect="1"/></xdr:cNvPicPr></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId${at + 1}"/><a:stretch><a:fillRect/></a:stretch></xdr:blipFill><xdr:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${size}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></xdr:spPr></xdr:pic><xdr:clientData/></xdr:oneCellAnchor>`;
}
