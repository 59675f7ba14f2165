// Writes a workbook: sheets one after another, then the files that name them.

import { ZipWriter } from '../zip-export.ts';
import { inPieces, type Sink } from '../sink.ts';
import { drawingRelations, drawingXml, type Picture } from './drawing.ts';
import { DECLARATION, PACKAGE, relation, RELATIONS, relationsXml, xmlText } from './package-xml.ts';
import { EXCEL, Worksheet, type SheetCapacity, type SheetLine } from './written-worksheet.ts';

const TYPES = 'application/vnd.openxmlformats-officedocument';

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
      await this.#zip.add(`xl/media/${name}`, streamOf(jpeg), 'stored');
      drawn.push({ ...placed, name });
    }
    await this.#text('xl/drawings/drawing1.xml', drawingXml(drawn));
    await this.#text('xl/drawings/_rels/drawing1.xml.rels', drawingRelations(drawn));
  }

  #text(name: string, text: string): Promise<void> {
    return this.#zip.add(name, streamOf(text));
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

/** Plain cells, the header, text that stays text when it is edited, and links. */
const STYLES_XML = `${DECLARATION}<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font><font><u/><sz val="11"/><color rgb="FF0563C1"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFEDEDED"/></patternFill></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="2" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

async function* streamOf<T>(item: T): AsyncGenerator<T> {
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
