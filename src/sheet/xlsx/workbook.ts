// Finds the parts of a workbook and chooses the sheet: the one with the given name, else the first visible one.

import { posix } from 'node:path';
import { correctionOf, list, nearest, problem } from '../../errors/error.ts';
import { readXml } from './xml-events.ts';
import type { Zip } from './zip-file.ts';

export type Workbook = {
  readonly sheet: string;
  /** The names of all visible sheets. */
  readonly visible: readonly string[];
  /** The parts of the sheet, of its texts and of its styles. */
  readonly parts: { readonly sheet: string; readonly strings: string; readonly styles: string };
  /** Whether day 0 is 1 January 1904 instead of 30 December 1899. */
  readonly is1904: boolean;
};

type Listed = { readonly name: string; readonly isVisible: boolean; readonly target: string | undefined };
type Relation = { readonly type: string; readonly target: string };

/** Throws E102 if the zip has no workbook or no sheet `wanted`. */
export async function readWorkbook(file: string, zip: Zip, wanted: string | undefined): Promise<Workbook> {
  const [main] = ofType(await relationsOf(file, zip, ''), 'officeDocument');
  if (main === undefined || !main.endsWith('.xml')) throw notAWorkbook(file, zip);
  const relations = await relationsOf(file, zip, main);
  const { sheets, is1904 } = await sheetsIn(file, zip, main, relations);
  const visible = sheets.filter(({ isVisible }) => isVisible).map(({ name }) => name);
  const chosen = sheets.find(({ name, isVisible }) => (wanted === undefined ? isVisible : name === wanted));
  if (chosen?.target === undefined) throw noSheet(file, wanted, visible);
  return {
    sheet: chosen.name,
    visible,
    parts: {
      sheet: chosen.target,
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
): Promise<{ readonly sheets: readonly Listed[]; readonly is1904: boolean }> {
  const sheets: Listed[] = [];
  let is1904 = false;
  await readXml(file, await zip.part(main), {
    open: (name, { date1904, name: title = '', state = 'visible', id = '' }) => {
      if (name === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true';
      const relation = relations.get(id);
      // Charts and macros are listed as sheets too.
      const target = relation?.type === 'worksheet' ? relation.target : undefined;
      if (name === 'sheet' && target !== undefined)
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

function noSheet(file: string, wanted: string | undefined, visible: readonly string[]) {
  if (wanted === undefined)
    return problem('E102', { what: `${file} has no visible sheet` }, { place: { file } });
  const near = nearest(wanted, visible);
  return problem(
    'E102',
    {
      what: `${file} has no sheet "${wanted}"`,
      hint: `${near === undefined ? '' : `did you mean ${near}? `}sheets: ${list(visible)}`,
    },
    { place: { file }, correction: correctionOf(wanted, near) },
  );
}
