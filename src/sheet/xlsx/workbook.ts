// Finds the parts of a workbook and its sheets: the one with the given name, or all visible ones.

import { posix } from 'node:path';
import { correctionOf, list, nearest, problem } from '../../errors/error.ts';
import { shortened } from '../sheet-record.ts';
import { readXml } from './xml-events.ts';
import type { Zip } from './zip-file.ts';

export type Workbook = {
  /** The sheets that may be meant. */
  readonly sheets: readonly [ListedSheet, ...ListedSheet[]];
  /** The parts of the texts and of the styles of all sheets. */
  readonly parts: { readonly strings: string; readonly styles: string };
  /** Whether day 0 is 1 January 1904 instead of 30 December 1899. */
  readonly is1904: boolean;
};

export type ListedSheet = {
  readonly name: string;
  readonly isVisible: boolean;
  /** Its part of the zip. */
  readonly target: string;
};
type Relation = { readonly type: string; readonly target: string };

/** Throws E102 if the zip has no workbook or no sheet `wanted`. */
export async function readWorkbook(file: string, zip: Zip, wanted: string | undefined): Promise<Workbook> {
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
  await readXml(file, await zip.part(main), {
    open: (name, { date1904, name: title = '', state = 'visible', id = '' }) => {
      if (name === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true';
      const relation = relations.get(id);
      // Charts and macros are listed as sheets too.
      const target = relation?.type === 'worksheet' ? relation.target : undefined;
      if (name !== 'sheet' || target === undefined) return;
      if (targets.has(target)) throw repeatedSheet(file, title);
      targets.add(target);
      sheets.push({ name: title, isVisible: state === 'visible', target });
    },
  });
  return { sheets, is1904 };
}

/** The parts that a part names, by their id. */
async function relationsOf(file: string, zip: Zip, part: string): Promise<ReadonlyMap<string, Relation>> {
  const folder = posix.dirname(part);
  const relations = new Map<string, Relation>();
  const own = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  await readXml(file, await zip.part(own), {
    open: (name, { Id = '', Type = '', Target = '', TargetMode }) => {
      if (name !== 'Relationship' || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: posix.basename(Type), target });
    },
  });
  return relations;
}

const ofType = (relations: ReadonlyMap<string, Relation>, type: string): readonly string[] =>
  [...relations.values()].filter((one) => one.type === type).map(({ target }) => target);

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

/** Each part is one sheet, and is read once. */
function repeatedSheet(file: string, title: string) {
  const what = `${file} cannot be read as an Excel workbook: its sheet ${JSON.stringify(shortened(title))} has the same cells as another one`;
  return problem('E102', { what, hint: 'save it again as .xlsx' }, { place: { file } });
}

function noSheet(file: string, wanted: string | undefined, visible: readonly string[]) {
  if (wanted === undefined)
    return problem('E102', { what: `${file} has no visible sheet` }, { place: { file } });
  const near = nearest(wanted, visible);
  return problem(
    'E102',
    {
      what: `${file} has no sheet "${wanted}"`,
      hint: `${near === undefined ? '' : `did you mean ${near}? `}sheets: ${list(visible.map(shortened))}`,
    },
    { place: { file }, correction: correctionOf(wanted, near) },
  );
}
