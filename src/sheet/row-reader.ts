// Turns one record into one row by the column mapping: its inputs as JSON text, or all its errors.

import {
  fileCell,
  fileFor,
  filesIn,
  filledTemplate,
  sentFiles,
  listOfFiles,
  severalFiles,
  type InputFiles,
} from './input-files.ts';
import {
  type CellKind,
  type CellReading,
  asChoice,
  isErrorWord,
  isNumeric,
  notAllowed,
  PERCENT,
  readText,
  readValue,
  takesFiles,
  withoutUnit,
  YES_MARK,
} from './parse-cell.ts';
import { cellAddress } from './xlsx/cell-value.ts';
import { type SheetPlace, problem, type RunsheetError } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import { definedOnly } from '../options/defined-only.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { nameProper } from './guesses/input-names.ts';
import { absentFile, type Feed } from './input-sources.ts';
import { fraction, IN_THOUSANDS, plainNumber, withoutCommas } from './number-signs.ts';
import { isKey, MAX_KEY } from './row-keys.ts';
import { columnsIn, type Template } from './templates.ts';
import { FAULTS, markFault, type MarkFault } from './mark-faults.ts';
import type { MisplacedFiles } from './misplaced-files.ts';
import { linkFrom, valueFrom } from './cell-parts.ts';
import { valuesIn } from './grid/expanded-rows.ts';
import { gpuNamed, isDefaultGpu, notAGpu } from './gpu-names.ts';
import {
  cellText,
  MAX_SHOWN,
  type RecordFault,
  shortened,
  type SheetRecord,
  spotOf,
} from './sheet-record.ts';

export type ReadRow = {
  /** Canonical JSON, which is stored and hashed. */
  readonly inputs: string;
  readonly gpu: string | undefined;
  /** The value of the key column; undefined without one. */
  readonly key: string | undefined;
  /** In the order of the cells. With any problem, the other fields are incomplete. */
  readonly wrong: readonly RunsheetError[];
};

export type RowReader = (record: SheetRecord, row: number) => ReadRow;

/** Reads records by a column mapping. `files`: the files read for the record; `misplaced` takes the cells of files. */
export function rowReader(plan: ColumnMapping, files?: InputFiles, misplaced?: MisplacedFiles): RowReader {
  const { feeds } = plan;
  // Canonical JSON has sorted names, so they are sorted once for all rows. A request speaks of the fields of a workflow.
  const members = feeds
    .flatMap(({ input, type }, at) => (type?.fields ?? [input]).map((name) => ({ name, at })))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, at }) => ({ name: JSON.stringify(name), at }));
  return (record, row) => {
    if (record.fault) return unreadable(plan, record.fault, row);
    const wrong: RunsheetError[] = [];
    const look: Look = { plan, record, row, wrong, files, misplaced };
    const read = { inputs: inputsOf(look, feeds, members), gpu: gpuOf(look), key: keyOf(look), wrong };
    wrong.sort(byPlace);
    return read;
  };
}

export function placeOfCell(
  plan: ColumnMapping,
  record: SheetRecord,
  row: number,
  index: number,
): SheetPlace {
  const columnName = plan.columns[index]?.name ?? '';
  const cell =
    record.marks === undefined || !isOwn(record, index) ? {} : { cell: cellAddress(index, record.line) };
  return { file: plan.file, ...spotOf(record, index, columnName), ...cell, row, columnName };
}

/** Whether the cell is the sheet's own; added cells are texts, as in a flag. */
const isOwn = ({ own }: SheetRecord, index: number): boolean => own === undefined || index < own;

type Look = {
  readonly plan: ColumnMapping;
  readonly record: SheetRecord;
  readonly row: number;
  readonly wrong: RunsheetError[];
  readonly files: InputFiles | undefined;
  readonly misplaced: MisplacedFiles | undefined;
};

/** A member of the request: its name as JSON, and which feed its value comes from. */
type RequestMember = { readonly name: string; readonly at: number };

function inputsOf(look: Look, feeds: readonly Feed[], members: readonly RequestMember[]): string {
  const values = feeds.map((feed) => {
    const { from } = feed;
    if ('json' in from) return from.json;
    return 'template' in from ? filledOf(look, feed, from.template) : cellOf(look, feed, from.column);
  });
  let text = '';
  for (const { name, at } of members) {
    const json = values[at];
    if (json !== undefined) text += `${text === '' ? '' : ','}${name}:${json}`;
  }
  return `{${text}}`;
}

function cellOf(look: Look, feed: Feed, index: number): string | undefined {
  const { plan, record, wrong } = look;
  const cell = cellFor(look, feed, index);
  const link = 'column' in feed.from ? linkFrom(record, feed.from) : undefined;
  const isLinked = takesFiles(feed.kind) && link !== undefined;
  const fault = isLinked
    ? undefined
    : (markFault(record.marks?.get(index), feed.kind) ?? wordFault(look, cell));
  if (fault !== undefined) {
    wrong.push(markedCell(look, index, fault));
    return undefined;
  }
  const isText = record.members === undefined || !isOwn(record, index);
  if (!isLinked && (isEmpty(cell, isText || feed.type?.required === true) || isNothing(plan, cell))) {
    if (feed.type?.required) wrong.push(emptyCell(look, feed, index));
    if (takesFiles(feed.kind)) look.misplaced?.take(index, feed.input, 'empty');
    return undefined;
  }
  const named = takesFiles(feed.kind) ? filesIn(feed.kind, cell, link) : [];
  if (named.length > 0) return filesOf(look, feed, named, index);
  const value = isText ? textOf(look, index, feed) : valueOf(plan, feed.kind, cell);
  // Nothing but marks stood in the text.
  if (typeof value === 'string' && value !== cell && BLANK.test(value) && !isNumeric(feed.kind)) {
    if (feed.type?.required) wrong.push(emptyCell(look, feed, index));
    return undefined;
  }
  const reading = isText ? readText(String(value), feed.kind) : readValue(value, feed.kind);
  return accepted(look, feed, index, reading);
}

const valueOf = ({ asText }: ColumnMapping, kind: CellKind, cell: unknown): unknown =>
  typeof cell === 'string' && !isNumeric(kind) && kind !== 'bool' && kind !== 'json' ? asText(cell) : cell;

/** The cell, or the part of it that the input takes. */
function cellFor({ plan, record }: Look, feed: Feed, index: number): unknown {
  const cell = record.cells[index];
  if ('part' in feed.from) return valueFrom(record, feed.from);
  const divider = plan.dividers.get(feed);
  return divider === undefined || typeof cell !== 'string' ? cell : divider(cell) || undefined;
}

function emptyCell({ plan, record, row }: Look, { input, type }: Feed, index: number): RunsheetError {
  const emptyIn = plan.columns[index]?.name ?? '';
  const facts = { input, columns: [], emptyIn, absent: type && absentFile(type) };
  return problem('E203', facts, { place: placeOfCell(plan, record, row, index) });
}

/** The value if the deployment accepts it; else notes the error at the cell. */
function accepted(look: Look, feed: Feed, index: number, reading: CellReading): string | undefined {
  const { plan, record, row, wrong } = look;
  const column = plan.columns[index]?.name ?? '';
  const place = (): { place: SheetPlace } => ({ place: placeOfCell(plan, record, row, index) });
  if (typeof reading !== 'string') {
    const cell = record.cells[index];
    const isGrouped = isNumeric(feed.kind) && IN_THOUSANDS.test(String(cell).trim());
    const listed = isGrouped
      ? THOUSANDS
      : feed.kind === 'int' && isListOfIntegers(cell)
        ? splitting(column)
        : undefined;
    const value = shown(look, index);
    const hint = [reading.hint, wayOut(value, column, feed)].filter(Boolean).join('; ');
    const facts = { value, column, ...reading, ...definedOnly({ hint }), ...listed?.facts };
    wrong.push(problem('E202', facts, { ...place(), ...listed?.more }));
    return undefined;
  }
  const chosen = feed.type ? asChoice(reading, feed.type) : reading;
  const not = feed.type && notAllowed(chosen, feed.type);
  if (not === undefined) return chosen;
  const what = `${JSON.stringify(shown(look, index))} in column "${column}" ${not.what}`;
  wrong.push(problem('E201', { ...not, what }, place()));
  return undefined;
}

const WORD = /^[\p{L} .-]{1,30}$/u;
const FRACTION = /^-?\d+\.\d*[1-9]\d*$/;

/** The flag for a column of fractions, and for a word that may mean no value: `ランダム` in a column of seeds. */
function wayOut(value: string, column: string, { kind, type, input }: Feed): string | undefined {
  if (type?.required !== false) return undefined;
  if (isNumeric(kind) && WORD.test(value)) return `if it means no value: --null ${shellWord(value)}`;
  // A column that --map names is sent whatever --drop says.
  const isSent = kind !== 'int' || nameProper(column) !== nameProper(input);
  return isSent || !FRACTION.test(value) ? undefined : `to leave the column out: --drop ${shellWord(column)}`;
}

/** `1,2,3` and `100-103`; `1,234` and `1,00,000` are numbers, `1,5` may be one. */
function isListOfIntegers(cell: unknown): boolean {
  if (typeof cell !== 'string' || ONE_NUMBER.test(cell) || !/[,;|\n]/.test(cell)) return false;
  const values = valuesIn(cell, false);
  return values.length > 1 && values.every((value) => /^\d+$/.test(String(value)));
}

const ONE_NUMBER = /^\s*-?(?:\d+(?:[.,]\d{3})*(?:[.,]\d+)?|\d{1,2}(?:,\d{2})+,\d{3})\s*$/;

const THOUSANDS = {
  facts: {
    hint: 'if commas separate thousands: --no-decimal-comma; if they are decimal commas: --decimal-comma',
  },
  more: { correction: { add: [['--no-decimal-comma']] } } as const,
};

const splitting = (column: string) => ({
  facts: { hint: `to make a row of each of its values: --split ${shellWord(column)}` },
  more: { correction: { add: [['--split', column]] } } as const,
});

/** Fills the template with the cells of this row; undefined if nothing remains. */
function filledOf(look: Look, feed: Feed, template: Template): string | undefined {
  const cells = look.plan.asCells(look.record.cells);
  const text = filledTemplate({ ...look.record, cells }, template, look.plan.nothings);
  const columns = columnsIn(template);
  for (const column of columns) {
    const fault = markFault(look.record.marks?.get(column), 'string') ?? wordFault(look, cells[column]);
    if (fault === undefined) continue;
    look.wrong.push(markedCell(look, column, fault));
    return undefined;
  }
  const [index] = columns;
  if (BLANK.test(text)) {
    if (feed.type?.required) look.wrong.push(emptyCell(look, feed, index ?? 0));
    return undefined;
  }
  if (takesFiles(feed.kind)) return filesOf(look, feed, filesIn(feed.kind, text), index);
  return accepted(look, feed, index ?? 0, readText(text, feed.kind));
}

type NamedFile = ReturnType<typeof filesIn>[number];

/** The addresses of files, or where they will be; undefined if one has none. */
function filesOf(
  look: Look,
  feed: Feed,
  named: readonly NamedFile[],
  index: number | undefined,
): string | undefined {
  const addresses = named.map((file) => fileOf(look, feed, file, index));
  const resolved = addresses.filter((address) => address !== undefined);
  return resolved.length < addresses.length ? undefined : JSON.stringify(sentFiles(feed, resolved));
}

function fileOf(
  look: Look,
  feed: Feed,
  { text, link }: NamedFile,
  index: number | undefined,
): string | undefined {
  const { plan, record, row, wrong, files, misplaced } = look;
  const column = index === undefined ? undefined : (plan.columns[index]?.name ?? '');
  const where = column === undefined ? `--set ${feed.input}` : `column "${column}"`;
  const cell = fileCell(text, link);
  if ('address' in cell && cell.isTaken && column !== undefined) files?.taken(column);
  const sent = fileFor({ text, cell }, feed, files);
  if (index !== undefined && 'column' in feed.from && (typeof sent === 'string' || 'atServer' in sent))
    misplaced?.take(index, feed.input, undefined);
  if (typeof sent === 'string') return sent;
  if ('atServer' in sent) {
    files?.atServer(where, text);
    return text;
  }
  if ('near' in sent && index !== undefined && 'column' in feed.from)
    misplaced?.take(index, feed.input, sent.near);
  const { isAbsent: _, near: _near, ...fault } = ('path' in cell && severalFiles(cell.path)) || sent;
  if (column === undefined && row > 1) return undefined; // A fault of every row is reported once.
  const place = index === undefined ? { file: plan.file } : placeOfCell(plan, record, row, index);
  const isListed = 'isSeveral' in fault && column !== undefined && 'column' in feed.from;
  const listed = isListed ? listOfFiles(feed.input, column) : undefined;
  const facts = { value: shortened(text), where, column, ...fault, ...listed?.facts };
  wrong.push(problem('E210', facts, { place, ...listed?.more }));
  return undefined;
}

/** A number input takes the number under a format, a boolean one a mark. */
function textOf(look: Look, index: number, feed: Feed): string {
  const { plan, record } = look;
  const { kind, isGiven } = feed;
  const text = cellText(cellFor(look, feed, index));
  if (kind === 'bool') return isGiven && YES_MARK.test(text.trim()) ? 'true' : text;
  if (!isNumeric(kind)) return kind === 'json' ? text : plan.asText(text);
  const raw = plainNumber((record.marks?.get(index)?.raw ?? text).trim());
  const plain = withoutCommas(isGiven ? withoutUnit(raw) : raw, plan.decimalComma);
  if (kind === 'float' && PERCENT.test(plain)) return fraction(plain);
  return plain.replace(/^(-?)0+(?=\d)/, '$1');
}

const isNothing = ({ nothings }: ColumnMapping, cell: unknown): boolean =>
  nothings.size > 0 && typeof cell === 'string' && nothings.has(cell.trim());

/** A CSV has the words of errors as text. JSON is written by programs. */
const wordFault = ({ plan, record }: Look, cell: unknown): MarkFault | undefined =>
  record.members === undefined &&
  typeof cell === 'string' &&
  isErrorWord(cell.trim()) &&
  !isNothing(plan, cell)
    ? FAULTS.error
    : undefined;

function gpuOf(look: Look): string | undefined {
  const { plan, record, row, wrong } = look;
  const index = plan.gpuColumn;
  const cell = index === undefined ? '' : (record.cells[index] ?? '');
  const fault = index === undefined ? undefined : markFault(record.marks?.get(index), 'string');
  if (index !== undefined && fault !== undefined) {
    wrong.push(markedCell(look, index, fault));
    return undefined;
  }
  if (index === undefined || cell === '') return plan.gpu;
  if (typeof cell === 'string' && isDefaultGpu(cell)) return plan.gpu;
  const named = typeof cell === 'string' ? gpuNamed(cell) : undefined;
  if (named !== undefined) return named;
  const facts = notAGpu(shown(look, index), `column "${plan.columns[index]?.name}"`);
  wrong.push(problem('E201', facts, { place: placeOfCell(plan, record, row, index) }));
  return undefined;
}

function markedCell(look: Look, index: number, fault: MarkFault): RunsheetError {
  const { plan, record, row } = look;
  const column = plan.columns[index]?.name ?? '';
  const place = placeOfCell(plan, record, row, index);
  return problem('E207', { value: shown(look, index), column, ...fault }, { place });
}

function keyOf(look: Look): string | undefined {
  const { plan, record, row, wrong } = look;
  const index = plan.keyColumn;
  const { keyEnd = '' } = record;
  // Without a sheet, the values of the grid name the rows.
  if (index === undefined) return record.own === 0 && keyEnd !== '' ? keyEnd.slice(1) : undefined;
  const fault = markFault(record.marks?.get(index), 'string');
  if (fault !== undefined) {
    wrong.push(markedCell(look, index, fault));
    return undefined;
  }
  const cell = record.cells[index] ?? '';
  const reading = readValue(cell, 'auto');
  const own = typeof cell === 'string' ? cell : JSON.stringify(cell);
  const key = own + keyEnd;
  const fit = typeof reading === 'string' && !/^[[{]/.test(reading) && own.trim() !== '' && isKey(key);
  if (fit) return key;
  const hint = `every row needs a key of its own: a text or a number of at most ${MAX_KEY} characters`;
  const facts = { value: shown(look, index), column: plan.columns[index]?.name ?? '', type: 'a key', hint };
  wrong.push(problem('E202', facts, { place: placeOfCell(plan, record, row, index) }));
  return undefined;
}

function unreadable({ file }: ColumnMapping, fault: RecordFault, row: number): ReadRow {
  const { line, column, cell, correction, isLine, surplus: _, ...facts } = fault;
  const place = { file, line, column, ...definedOnly({ cell, row: isLine ? undefined : row }) };
  const wrong = [problem('E103', facts, { place, correction })];
  return { inputs: '{}', gpu: undefined, key: undefined, wrong };
}

/** Whether the value is omitted: an empty or blank CSV cell, null or a missing member in JSON, or a blank text if one is required. */
const isEmpty = (cell: unknown, isText: boolean): boolean =>
  cell === undefined || cell === null || (isText && typeof cell === 'string' && BLANK.test(cell));

/** Spaces and invisible letters. */
const BLANK = /^[\s\u200B-\u200D\u2060\uFEFF]*$/;

/** The text of a cell as in the sheet, because JSON.parse changes numbers such as 1e400. */
function shown({ plan, record }: Look, index: number): string {
  const cell = record.cells[index];
  if (typeof cell === 'string' || record.members === undefined) return shortened(String(cell));
  return shortened(record.members.sourceOf(plan.columns[index]?.name ?? '', MAX_SHOWN + 1));
}

const byPlace = (a: RunsheetError, b: RunsheetError): number =>
  (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0);
