// Turns one record into the line of its page: named, checked and placed in the sending order.
//
//   read      the row has a place and is sent
//   unread    with `invalid: 'skip'`: the row is in its page with a reason, and has no place
//   faulty    its faults refuse the sheet; it has a line only so that the size of its page is known

import { problem, RunsheetError } from '../errors/error.ts';
import { parseExactly } from '../host/formats/exact-json.ts';
import { comparable } from '../service-client/contract/file-inputs.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { isWithoutInput, repeatsHeader, sentColumns } from './empty-rows.ts';
import type { InputFiles } from './input-files.ts';
import { oddRow, type OddCells } from './odd-rows.ts';
import { outputNameFault, type RowFileNames } from './output-name.ts';
import { refusedLine, rowLine } from './pages.ts';
import type { UnreadRows } from './refused-rows.ts';
import type { RowNames } from './row-keys.ts';
import { placeOfCell, rowReader, type ReadRow } from './row-reader.ts';
import type { RowSorter } from './sending-order.ts';
import { cellText, type SheetRecord } from './sheet-record.ts';
import type { MisplacedFiles } from './misplaced-files.ts';
import { sizeOf } from './size-classes.ts';

type SortKey = Exclude<ReturnType<RowSorter>, RunsheetError>;

/** `content`: the text that tells whether two sheets have the same row. `sent`: absent for a row that is never sent. */
type LaidLine = {
  readonly line: string;
  readonly content: string;
  readonly sent?: {
    readonly gpu: string | undefined;
    readonly position: SortKey | undefined;
    readonly size: number | undefined;
  };
};

/** `key`: the value of its key column. */
type LaidRow = {
  readonly faults: readonly RunsheetError[];
  readonly key: string | undefined;
  readonly laid?: LaidLine;
};

export type RowLayer = (record: SheetRecord, row: number) => LaidRow;

export type RowLaying = {
  readonly plan: ColumnMapping;
  readonly names: RowNames;
  readonly fileNames: RowFileNames | undefined;
  readonly files: InputFiles | undefined;
  readonly sorter: RowSorter | undefined;
  /** Takes the rows that cannot be read; undefined if one of them refuses the sheet. */
  readonly unread: UnreadRows | undefined;
  /** Finds what is odd in a row, if odd rows are refused. */
  readonly oddCells?: OddCells | undefined;
  readonly misplaced?: MisplacedFiles | undefined;
};

export function rowLayer(laying: RowLaying): RowLayer {
  const { plan, files, names, unread } = laying;
  const read = rowReader(plan, files, laying.misplaced);
  const isUnmapped = plan.problems.some(({ code }) => code === 'E203');
  const sent = sentColumns(plan);
  return (record, number) => {
    const row = read(record, number);
    // Without a required input, the mapping is wrong, and errors of cells mean nothing.
    const own = isUnmapped ? [] : row.wrong;
    // Without the option, rows without values refuse the sheet before it is laid out.
    const wrong =
      unread !== undefined && row.wrong.length === 0
        ? [...valueless(plan, sent, record, number), ...oddIn(laying, record, number)].slice(0, 1)
        : own;
    const isUnread = unread?.takes(record, wrong) === true;
    const isNameless = row.wrong.length > 0 && row.key === undefined;
    const named = isUnread || isNameless ? undefined : namedRow(laying, { record, number, row });
    const faults = [...wrong, ...(named?.faults ?? [])];
    if (unread?.takes(record, faults) === true) {
      const cells = JSON.stringify(record.cells.map(cellText));
      const key = named?.ownKey ?? names.nameUnread(row.key, cells, number);
      const line = refusedLine(number, key, unread.add(number, key, faults));
      // The words of a reason may change without the row.
      const codes = faults.map(({ code }) => code).join(' ');
      return {
        faults,
        key: row.key,
        laid: { line, content: `${refusedLine(number, key, codes)}${cells}\n` },
      };
    }
    // The key of an expanded row is no cell of the sheet.
    const shown = { faults, key: record.keyEnd === undefined ? row.key : undefined };
    return named === undefined ? shown : { ...shown, laid: named.laid };
  };
}

function oddIn({ plan, oddCells }: RowLaying, record: SheetRecord, row: number): readonly RunsheetError[] {
  const odd = oddCells?.(record);
  return odd === undefined ? [] : [oddRow(plan, record, row, odd)];
}

/** The fault of a row that has no values for inputs. */
function valueless(
  plan: ColumnMapping,
  sent: readonly number[],
  record: SheetRecord,
  row: number,
): readonly RunsheetError[] {
  const what = repeatsHeader(plan, record.cells.map(cellText))
    ? 'the row repeats the header'
    : isWithoutInput(plan, sent, record)
      ? 'the row is empty in every column of an input'
      : undefined;
  if (what === undefined) return [];
  return [problem('E112', { what }, { place: { file: plan.file, line: record.line, row } })];
}

type RecordRead = { readonly record: SheetRecord; readonly number: number; readonly row: ReadRow };

/** `ownKey`: absent if an earlier row has the key. */
function namedRow(
  { plan, names, fileNames, sorter }: RowLaying,
  { record, number, row }: RecordRead,
): { readonly faults: readonly RunsheetError[]; readonly laid: LaidLine; readonly ownKey?: string } {
  const faults: RunsheetError[] = [];
  const placeOf = (column: number) => ({ place: placeOfCell(plan, record, number, column) });
  const { key, firstRow } = names.name({ ...row, inputs: comparable(row.inputs) }, number);
  if (firstRow !== undefined)
    faults.push(problem('E105', { key, row: number, firstRow }, placeOf(plan.keyColumn ?? 0)));
  const file = fileNames?.nameOf({ row: number, key, cellOf: (at) => cellText(record.cells[at]) }) ?? {};
  if ('fault' in file)
    faults.push(outputNameFault(file.fault, placeOf(fileNames?.column ?? plan.keyColumn ?? 0).place));
  const position = sorter?.(record, number);
  if (position instanceof RunsheetError) faults.push(position);
  const content = rowLine(number, key, row.gpu, row.inputs);
  // A file name is not part of the row's content.
  const line = 'name' in file ? rowLine(number, key, row.gpu, row.inputs, file) : content;
  const size = plan.ladder === undefined || row.gpu !== undefined ? undefined : sizeIn(row.inputs, plan);
  const sent = { gpu: row.gpu, position: position instanceof RunsheetError ? undefined : position, size };
  return {
    faults,
    laid: { line, content: comparable(content), sent },
    ...(firstRow === undefined && { ownKey: key }),
  };
}

const sizeIn = (inputs: string, { sizedBy }: ColumnMapping): number =>
  sizeOf(parseExactly(inputs) as Readonly<Record<string, unknown>>, sizedBy);
