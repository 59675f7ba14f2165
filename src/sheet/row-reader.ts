// Turns one record into one row by the column mapping: its inputs as JSON text, or all its errors.

import { isGpu } from '../batch/gpu.ts';
import { type Place, problem, type RunsheetError } from '../errors/error.ts';
import { notAllowed, readText, readValue } from './parse-cell.ts';
import type { Feed, ColumnMapping } from './column-mapping.ts';
import { notAGpu } from './not-a-gpu.ts';
import { MOST_SHOWN, type RecordFault, shortened, type SheetRecord, spotOf } from './sheet-record.ts';

type ReadRow = {
  /** Canonical JSON, which is stored and hashed. */
  readonly inputs: string;
  readonly gpu: string | undefined;
  /** The value of the key column; undefined without one. */
  readonly key: string | undefined;
  /** In the order of the cells. With any problem, the other fields are incomplete. */
  readonly wrong: readonly RunsheetError[];
};

export type RowReader = (record: SheetRecord, row: number) => ReadRow;

/** Reads records by a column mapping. */
export function rowReader(plan: ColumnMapping): RowReader {
  // Canonical JSON has sorted names, so they are sorted once for all rows.
  const feeds = plan.feeds
    .map((feed) => ({ ...feed, name: JSON.stringify(feed.input) }))
    .sort((a, b) => (a.input < b.input ? -1 : 1));
  return (record, row) => {
    if (record.fault) return unreadable(plan, record.fault, row);
    const wrong: RunsheetError[] = [];
    const look: Look = { plan, record, row, wrong };
    const read = { inputs: inputsOf(look, feeds), gpu: gpuOf(look), key: keyOf(look), wrong };
    wrong.sort(byPlace);
    return read;
  };
}

/** The place of a cell, for messages. */
export function placeOfCell(plan: ColumnMapping, record: SheetRecord, row: number, index: number): Place {
  const columnName = plan.columns[index]?.name ?? '';
  return { file: plan.file, ...spotOf(record, index, columnName), row, columnName };
}

type Look = {
  readonly plan: ColumnMapping;
  readonly record: SheetRecord;
  readonly row: number;
  readonly wrong: RunsheetError[];
};

type NamedFeed = Feed & { readonly name: string };

function inputsOf(look: Look, feeds: readonly NamedFeed[]): string {
  let members = '';
  for (const feed of feeds) {
    const json = 'json' in feed.from ? feed.from.json : cellOf(look, feed, feed.from.column);
    if (json !== undefined) members += `${members === '' ? '' : ','}${feed.name}:${json}`;
  }
  return `{${members}}`;
}

function cellOf(look: Look, feed: Feed, index: number): string | undefined {
  const { plan, record, row, wrong } = look;
  const cell = record.cells[index];
  const column = plan.columns[index]?.name ?? '';
  const place = (): { place: Place } => ({ place: placeOfCell(plan, record, row, index) });
  if (isEmpty(cell, record)) {
    if (feed.type?.required)
      wrong.push(problem('E203', { input: feed.input, columns: [], emptyIn: column }, place()));
    return undefined;
  }
  const reading =
    record.members === undefined ? readText(String(cell), feed.kind) : readValue(cell, feed.kind);
  if (typeof reading !== 'string') {
    wrong.push(problem('E202', { value: shown(look, index), column, ...reading }, place()));
    return undefined;
  }
  const not = feed.type && notAllowed(reading, feed.type);
  if (not === undefined) return reading;
  const what = `${JSON.stringify(shown(look, index))} in column "${column}" ${not.what}`;
  wrong.push(problem('E201', { ...not, what }, place()));
  return undefined;
}

function gpuOf(look: Look): string | undefined {
  const { plan, record, row, wrong } = look;
  const index = plan.gpuColumn;
  const cell = index === undefined ? '' : (record.cells[index] ?? '');
  if (index === undefined || cell === '') return plan.gpu;
  if (typeof cell === 'string' && isGpu(cell)) return cell;
  const facts = notAGpu(shown(look, index), `column "${plan.columns[index]?.name}"`);
  wrong.push(problem('E201', facts, { place: placeOfCell(plan, record, row, index) }));
  return undefined;
}

/** Keys appear in file names, signals and tables. */
const MOST_KEY = 200;

function keyOf(look: Look): string | undefined {
  const { plan, record, row, wrong } = look;
  const index = plan.keyColumn;
  if (index === undefined) return undefined;
  const cell = record.cells[index] ?? '';
  const reading = readValue(cell, 'auto');
  const key = typeof cell === 'string' ? cell : JSON.stringify(cell);
  const fit =
    typeof reading === 'string' &&
    !/^[[{]/.test(reading) &&
    key.trim() !== '' &&
    key.length <= MOST_KEY &&
    !/\p{Cc}/u.test(key);
  if (fit) return key;
  const hint = `every row needs a key of its own: a text or a number of at most ${MOST_KEY} characters`;
  const facts = { value: shown(look, index), column: plan.columns[index]?.name ?? '', type: 'a key', hint };
  wrong.push(problem('E202', facts, { place: placeOfCell(plan, record, row, index) }));
  return undefined;
}

function unreadable({ file }: ColumnMapping, fault: RecordFault, row: number): ReadRow {
  const { line, column, ...facts } = fault;
  const wrong = [problem('E103', facts, { place: { file, line, column, row } })];
  return { inputs: '{}', gpu: undefined, key: undefined, wrong };
}

/** Omitted from the row: an empty CSV cell, null or a missing member in JSON. */
const isEmpty = (cell: unknown, { members }: SheetRecord): boolean =>
  cell === undefined || cell === null || (cell === '' && members === undefined);

/** The text of a cell as in the sheet, because JSON.parse changes numbers such as 1e400. */
function shown({ plan, record }: Look, index: number): string {
  const cell = record.cells[index];
  if (typeof cell === 'string' || record.members === undefined) return shortened(String(cell));
  return shortened(record.members.sourceOf(plan.columns[index]?.name ?? '', MOST_SHOWN + 1));
}

const byPlace = (a: RunsheetError, b: RunsheetError): number =>
  (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0);
