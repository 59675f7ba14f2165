// A row as the report shows it: everything is text or a number, foreign text is harmless, and long text is cut.

import { definedOnly } from '../../options/defined-only.ts';
import { integerFrom } from '../../host/formats/exact-json.ts';
import { terminalLine, terminalLines } from '../../errors/outside-text.ts';
import type { AttemptRecord, RowRecord } from '../row-record.ts';

/** Characters of a cell, of all inputs or all other cells of a row, and of a reason. */
const CELL_SHOWN = 8_000;
const ROW_SHOWN = 16_000;
const REASON_SHOWN = 2_000;
/** Files, texts and attempts of a row. */
const FILES_SHOWN = 50;
const TEXTS_SHOWN = 4;
const ATTEMPTS_SHOWN = 40;

type ReportCells = Readonly<Record<string, string>>;

/** Names are short because a batch may have a million of them. */
export function shownRow(record: RowRecord, data: readonly (readonly [string, string])[]) {
  let more = 0;
  const shown = (cells: Iterable<readonly [string, string]>): ReportCells => {
    const named: [string, string][] = [];
    let room = ROW_SHOWN;
    for (const [name, value] of cells) {
      const text = beginningOf(value, CELL_SHOWN);
      if (room < name.length + text.length) more += 1;
      else named.push([name, text]);
      room -= name.length + text.length;
    }
    return Object.fromEntries(named);
  };
  const inputs = shown(Object.entries(record.inputs).map(([name, value]) => [name, cellOf(value)]));
  const dataCells = shown(data);
  const { reason, files, texts, attempts, reused_from } = record;
  return definedOnly({
    inputs,
    /** Cells of columns that are no inputs. */
    data: dataCells,
    /** How many cells are left out. */
    more: more === 0 ? undefined : more,
    reason: reason === undefined ? undefined : outside(reason),
    attempts: attempts.slice(-ATTEMPTS_SHOWN).map(shownAttempt),
    files: files
      .slice(0, FILES_SHOWN)
      .map(({ path, bytes, name }) => ({ path, bytes, name: terminalLine(name) })),
    texts: texts?.slice(0, TEXTS_SHOWN).map((text) => terminalLines(beginningOf(text, REASON_SHOWN))),
    reused: reused_from,
  });
}
export type ShownRow = ReturnType<typeof shownRow>;

function shownAttempt(attempt: AttemptRecord): AttemptRecord {
  const { reason, run_id, gpu_used } = attempt;
  return {
    ...attempt,
    ...(reason === undefined ? {} : { reason: outside(reason) }),
    ...(run_id === undefined ? {} : { run_id: terminalLine(run_id) }),
    ...(gpu_used === undefined ? {} : { gpu_used: terminalLine(gpu_used) }),
  };
}

/** The text of a cell; integers keep all digits. */
export const cellOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, exactly);

/** The parser returns long integers as bigints, which JSON.stringify refuses. */
const exactly = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? integerFrom(String(value)) : value;

const outside = (text: string): string => terminalLine(beginningOf(text, REASON_SHOWN));

/** Copies the beginning, because a slice would keep the whole string in memory. */
export const beginningOf = (text: string, most: number): string =>
  text.length > most ? `${Buffer.from(text.slice(0, most)).toString()}…` : text;
