// Writes one sheet of a workbook as lines of JSON, which every later reading of the batch uses: a workbook can only be read
// with random access, and only its end says which cells are merged.

import { posix } from 'node:path';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { correctionOf, hintAmong, isRunsheetError, nearest, problem } from '../../errors/error.ts';
import { firstOf, shortened } from '../sheet-record.ts';
import { SharedStrings } from './shared-strings.ts';
import { readXml, unreadable } from './xml-parts.ts';
import { type Zip, tooLarge, withZip } from './zip-parts.ts';
import { cellAddress, numberFormats, textsOf, type WorkbookCells } from './cell-value.ts';
import type { OtherSheet, SheetHead } from './unpacked-sheet.ts';
import { worksheetRows, type SheetFacts, type SheetParts, type WorkbookRow } from './worksheet.ts';

export type UnpackParams = {
  readonly from: string;
  /** The name for messages. */
  readonly file: string;
  /** Default: the visible sheet that the workbook opens with or the first one, if it is a table. */
  readonly sheet?: string | undefined;
  readonly to: string;
};

/** Throws E102 if the workbook cannot be read. */
export async function unpackSheet(params: UnpackParams): Promise<void> {
  const { from, file, sheet, to } = params;
  await refuseOldFormat(from, file);
  await withZip(from, file, async (zip) => {
    const { sheets, parts, is1904 } = await readWorkbook(file, zip, sheet);
    const strings = await SharedStrings.read(file, zip, parts.strings);
    const formats = await numberFormats(file, zip, parts.styles);
    const partsOf = async ({ target }: ListedSheet): Promise<SheetParts> => {
      const bytes = await zip.part(target);
      if (bytes !== undefined) return { file, bytes, strings, formats, is1904, spend: zip.spend };
      throw problem('E102', { what: `${file} has lost its sheet` }, { place: { file } });
    };
    const [chosen, ...otherSheets] = await withValues(file, sheets, partsOf);
    const rows = `${to}.rows`;
    try {
      const facts = await withDrawing(file, zip, chosen.target, await writeRows(await partsOf(chosen), rows));
      const { name: sheetName, begins } = chosen;
      const head: SheetHead = { sheet: sheetName, begins, others: otherSheets.map(otherSheet), ...facts };
      await writeFile(to, `${JSON.stringify(head)}\n`);
      await pipeline(createReadStream(rows), createWriteStream(to, { flags: 'a' }));
    } finally {
      await rm(rows, { force: true });
    }
  });
}

const MAX_PICTURES = 10_000;

/** The facts with where the cells lead, and with the cells that pictures lie on. */
async function withDrawing(
  file: string,
  zip: Zip,
  sheet: string,
  { links: ids, drawing, ...facts }: SheetFacts,
): Promise<Omit<SheetHead, 'sheet' | 'begins' | 'others'>> {
  if (drawing === undefined && Object.keys(ids).length === 0) return facts;
  const relations = await relationsOf(file, zip, sheet, true);
  const links = Object.entries(ids).flatMap(([cell, id]) => {
    const { type, target } = relations.get(id) ?? {};
    return type === 'hyperlink' && target !== undefined ? [[cell, target]] : [];
  });
  const { target = '' } = relations.get(drawing ?? '') ?? {};
  return { ...facts, links: Object.fromEntries(links), pictures: await picturesIn(file, zip, target) };
}

/** The cells in which the upper left corners of pictures are. */
async function picturesIn(file: string, zip: Zip, drawing: string): Promise<readonly string[]> {
  const cells = new Set<string>();
  const at = { col: '', row: '' };
  let inside: 'col' | 'row' | undefined;
  let isFrom = false;
  await readXml(file, await zip.part(drawing), {
    open: (name) => {
      if (name === 'from') [isFrom, at.col, at.row] = [true, '', ''];
      inside = isFrom && (name === 'col' || name === 'row') ? name : undefined;
      if (name === 'pic' && at.row !== '' && cells.size < MAX_PICTURES)
        cells.add(cellAddress(Number(at.col), Number(at.row) + 1));
    },
    close: (name) => {
      inside = undefined;
      if (name === 'from') isFrom = false;
    },
    text: (text) => {
      if (inside !== undefined && at[inside].length < 8) at[inside] += text;
    },
  });
  return [...cells];
}

type PartsOf = (sheet: ListedSheet) => Promise<SheetParts>;

type Begun = ListedSheet & Pick<OtherSheet, 'begins'>;

const otherSheet = ({ name, begins }: Begun): OtherSheet => ({ name, begins });

/** The sheets with values and how they begin, or the first one if all are empty. */
async function withValues(
  file: string,
  sheets: readonly [ListedSheet, ...ListedSheet[]],
  partsOf: PartsOf,
): Promise<readonly [Begun, ...Begun[]]> {
  const alone: Begun = { ...sheets[0], begins: [] };
  if (sheets.length === 1) return [alone];
  const filled: Begun[] = [];
  let kept = 0;
  for (const sheet of sheets) {
    const begins = await beginOf(sheet, partsOf);
    if (begins === undefined) continue;
    filled.push({ ...sheet, begins });
    kept += JSON.stringify([sheet.name, begins]).length;
    if (kept > MAX_BEGINS) throw tooLarge(file, 'has too many sheets with values');
  }
  const first = tableAmong(filled) ?? alone;
  return [first, ...filled.filter((sheet) => sheet !== first)];
}

/** The sheet that the workbook opens with if it is a table, else the first table, else the first sheet. A column of prose is no table. */
export const tableAmong = <T extends Pick<OtherSheet, 'begins'> & { readonly isOpen?: boolean }>(
  sheets: readonly T[],
): T | undefined =>
  sheets
    .toSorted((a, b) => Number(b.isOpen ?? false) - Number(a.isOpen ?? false))
    .find(({ begins }) => {
      const rows = begins.filter((texts) => texts.filter((text) => text.trim() !== '').length > 1);
      return rows.length * 2 > begins.length;
    }) ?? sheets[0];

/** A header is looked for in this many rows; names of inputs are not longer than this. */
export const BEGIN_ROWS = 20;
const BEGIN_CELLS = 200;
const NAME_LENGTH = 100;
/** The beginnings of all sheets are one line of what is written. */
export const MAX_BEGINS = 4 * 1024 * 1024;

/** The texts of a row, as far as a header may need them. */
export const beginTexts = (cells: WorkbookCells): readonly string[] =>
  textsOf(cells, BEGIN_CELLS).map((text) => text.slice(0, NAME_LENGTH));

/** undefined for a sheet without values; one that cannot be read may have some. */
async function beginOf(sheet: ListedSheet, partsOf: PartsOf): Promise<OtherSheet['begins'] | undefined> {
  const rows: (readonly string[])[] = [];
  try {
    for await (const { cells } of firstOf(worksheetRows(await partsOf(sheet)), BEGIN_ROWS))
      rows.push(beginTexts(cells));
    return rows.length === 0 ? undefined : rows;
  } catch (error) {
    if (isRunsheetError(error, 'E102')) return rows;
    throw error;
  }
}

async function writeRows(parts: SheetParts, to: string): Promise<SheetFacts> {
  let facts: SheetFacts = { merged: [], hidden: 0, links: {}, drawing: undefined };
  const lines = async function* (): AsyncGenerator<string> {
    const rows = worksheetRows(parts);
    let text = '';
    for (;;) {
      const { value, done } = await rows.next();
      if (done === true) {
        facts = value;
        break;
      }
      text += lineOf(value);
      if (text.length < PIECE) continue;
      yield text;
      text = '';
    }
    yield text;
  };
  await pipeline(lines, createWriteStream(to));
  return facts;
}

const PIECE = 64 * 1024;

const lineOf = ({ row, cells, isHidden }: WorkbookRow): string =>
  `${JSON.stringify(isHidden ? [row, cells, 1] : [row, cells])}\n`;

/** Workbooks of Excel 97, and workbooks with a password, are compound files. */
async function refuseOldFormat(from: string, file: string): Promise<void> {
  const handle = await open(from);
  try {
    const { buffer } = await handle.read(Buffer.alloc(8), 0, 8);
    if (buffer.toString('hex') !== 'd0cf11e0a1b11ae1') return;
    const what = `${file} is an old Excel workbook (.xls), or it has a password`;
    throw problem('E102', { what, hint: 'save it as .xlsx without a password' }, { place: { file } });
  } finally {
    await handle.close();
  }
}

type Workbook = {
  /** The sheets that may be meant. */
  readonly sheets: readonly [ListedSheet, ...ListedSheet[]];
  /** The parts of the texts and of the styles of all sheets. */
  readonly parts: { readonly strings: string; readonly styles: string };
  /** Whether day 0 is 1 January 1904 instead of 30 December 1899. */
  readonly is1904: boolean;
};

type ListedSheet = {
  readonly name: string;
  readonly isVisible: boolean;
  /** Whether the workbook opens with it. */
  readonly isOpen: boolean;
  /** The part of the zip with the sheet. */
  readonly target: string;
};
type Relation = { readonly type: string; readonly target: string };

/** Throws E102 if the zip has no workbook or no sheet `wanted`. */
async function readWorkbook(file: string, zip: Zip, wanted: string | undefined): Promise<Workbook> {
  const [main] = ofType(await relationsOf(file, zip, ''), 'officeDocument');
  if (main === undefined || !main.endsWith('.xml')) throw notAWorkbook(file, zip);
  const relations = await relationsOf(file, zip, main);
  const { sheets, is1904 } = await sheetsIn(file, zip, main, relations);
  const visible = sheets.filter(({ isVisible }) => isVisible);
  const [first, ...more] = wanted === undefined ? visible : sheets.filter(({ name }) => name === wanted);
  if (first === undefined)
    throw noSheet(
      file,
      wanted,
      visible.map(({ name }) => name),
    );
  return {
    sheets: [first, ...more],
    parts: {
      strings: ofType(relations, 'sharedStrings')[0] ?? '',
      styles: ofType(relations, 'styles')[0] ?? '',
    },
    is1904,
  };
}

async function sheetsIn(
  file: string,
  zip: Zip,
  main: string,
  relations: ReadonlyMap<string, Relation>,
): Promise<{ readonly sheets: readonly ListedSheet[]; readonly is1904: boolean }> {
  const sheets: ListedSheet[] = [];
  const targets = new Set<string>();
  let is1904 = false;
  let [active, listed] = [0, 0];
  await readXml(file, await zip.part(main), {
    open: (name, { date1904, name: title = '', state = 'visible', id = '', activeTab = '0' }) => {
      if (name === 'workbookView') active = Number(activeTab);
      if (name === 'sheet') listed += 1;
      if (name === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true';
      const relation = relations.get(id);
      // Charts and macros are listed as sheets too.
      const target = relation?.type === 'worksheet' ? relation.target : undefined;
      if (name !== 'sheet' || target === undefined) return;
      // Each part is one sheet, and is read once.
      if (targets.has(target))
        throw unreadable(
          file,
          `its sheet ${JSON.stringify(shortened(title))} has the same cells as another one`,
        );
      targets.add(target);
      sheets.push({ name: title, isVisible: state === 'visible', isOpen: listed - 1 === active, target });
    },
  });
  return { sheets, is1904 };
}

/** The parts that a part names, by their id. */
async function relationsOf(file: string, zip: Zip, part: string, withLinks = false) {
  const folder = posix.dirname(part);
  const relations = new Map<string, Relation>();
  const own = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  await readXml(file, await zip.part(own), {
    open: (name, { Id = '', Type = '', Target = '', TargetMode }) => {
      if (name !== 'Relationship') return;
      const isLink = withLinks && posix.basename(Type) === 'hyperlink';
      if (isLink) relations.set(Id, { type: 'hyperlink', target: Target });
      if (isLink || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: posix.basename(Type), target });
    },
  });
  return relations;
}

const ofType = (relations: ReadonlyMap<string, Relation>, type: string): readonly string[] =>
  [...relations.values()].filter((relation) => relation.type === type).map(({ target }) => target);

function notAWorkbook(file: string, { names }: Zip) {
  const place = { place: { file } };
  const is = names.has('xl/workbook.bin')
    ? 'a binary workbook (.xlsb)'
    : names.has('content.xml')
      ? 'an OpenDocument sheet'
      : undefined;
  if (is !== undefined) return problem('E102', { what: `${file} is ${is}`, hint: 'save it as .xlsx' }, place);
  const what = `${file} is a zip file and no Excel workbook`;
  return problem('E102', { what, hint: 'unpack it, and give the sheet in it' }, place);
}

/** E102 for a workbook without the sheet `wanted`, or without a visible one. */
export function noSheet(file: string, wanted: string | undefined, visible: readonly string[]) {
  if (wanted === undefined)
    return problem('E102', { what: `${file} has no visible sheet` }, { place: { file } });
  const hint = hintAmong(wanted, 'sheets', visible.map(shortened));
  return problem(
    'E102',
    { what: `${file} has no sheet "${wanted}"`, hint },
    { place: { file }, correction: correctionOf(wanted, nearest(wanted, visible)) },
  );
}
