// A row as the report shows it: everything is text or a number, foreign text is harmless, and long text is cut.

import { definedOnly } from '../../options/defined-only.ts';
import { integerFrom } from '../../batch/digits.ts';
import { terminalLine, terminalLines } from '../../errors/outside-text.ts';
import type { AttemptRecord, FileRecord, RowRecord } from '../row-record.ts';
import { idleBefore, type Idle } from '../summary.ts';
import type { BatchFile } from '../../store/batch-file.ts';

/** Characters of a cell, of all inputs or all other cells of a row, and of a reason. */
const CELL_SHOWN = 8_000;
const ROW_SHOWN = 16_000;
const REASON_SHOWN = 2_000;
/** Files, texts and attempts of a row. */
const FILES_SHOWN = 50;
const TEXTS_SHOWN = 4;
const ATTEMPTS_SHOWN = 40;

type Cells = Readonly<Record<string, string>>;

/** Names are short because a batch may have a million of them. */
export function shownRow(record: RowRecord, data: readonly (readonly [string, string])[]) {
  let more = 0;
  const shown = (cells: Iterable<readonly [string, string]>): Cells => {
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
  const others = shown(data);
  const { reason, files, texts, attempts, reused_from } = record;
  return definedOnly({
    inputs,
    /** Cells of columns that are no inputs. */
    data: others,
    /** How many cells are left out. */
    more: more === 0 ? undefined : more,
    reason: reason === undefined ? undefined : outside(reason),
    attempts: attempts.slice(-ATTEMPTS_SHOWN).map(shownAttempt),
    files: files
      .slice(0, FILES_SHOWN)
      .map(({ path, bytes, name }) => ({ path, bytes, name: terminalLine(name) })),
    texts: texts?.slice(0, TEXTS_SHOWN).map((one) => terminalLines(beginningOf(one, REASON_SHOWN))),
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

/** As text with all digits. */
export const cellOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, exactly);

/** JSON has no bigints, which the library gives instead of long integers. */
const exactly = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? integerFrom(String(value)) : value;

const outside = (text: string): string => terminalLine(beginningOf(text, REASON_SHOWN));

/** A copy: a slice of a string would keep the whole of it in memory. */
export const beginningOf = (text: string, most: number): string =>
  text.length > most ? `${Buffer.from(text.slice(0, most)).toString()}…` : text;

// A row as the page takes it while its batch runs.

const LIVE_CELL_SHOWN = 240;
const LIVE_REASON_SHOWN = 160;

/** Its fields are those that `put` in `browser/all-rows.js` reads; a cell that is no input is null. Times are in milliseconds since 1970, as if `idle` had not been. */
export function liveRow(
  { row, key, outcome, reason, inputs, files, attempts }: RowRecord,
  inputOf: readonly (string | undefined)[],
  idle: readonly Idle[] = [],
) {
  const [first] = files;
  const timeOf = (time: string | undefined): number | undefined => {
    const at = time === undefined ? 0 : Date.parse(time) || 0;
    return at === 0 ? undefined : at - idleBefore(idle, at);
  };
  return {
    row,
    key,
    outcome,
    ...(reason === undefined ? {} : { reason: terminalLine(beginningOf(reason, LIVE_REASON_SHOWN)) }),
    cells: inputOf.map((input) =>
      input === undefined
        ? null
        : beginningOf(cellOf(inputs[input]), LIVE_CELL_SHOWN).replaceAll(/[\n\r]+/g, ' '),
    ),
    files: files.length,
    ...(first && { file: first.path, bytes: first.bytes, sha: shownSha(first) }),
    attempts: attempts.map((one) => ({
      outcome: one.outcome,
      created: timeOf(one.created_at),
      ended: timeOf(one.ended_at),
      queue: one.queue_seconds,
      cold: one.cold_start_seconds,
      run: one.run_seconds,
      cost: one.cost_usd,
      gpu: one.gpu_used === undefined ? undefined : terminalLine(one.gpu_used),
      kind: one.failure,
      climbed: one.climbed,
    })),
  };
}

/** Enough of a checksum to compare pictures; empty without a file. */
export const shownSha = (file: FileRecord | undefined): string => file?.sha256.slice(0, 12) ?? '';

/** The inputs that the columns of the page give. */
export function inputsOfColumns(
  { sheet }: Pick<BatchFile, 'sheet'>,
  columns: readonly string[],
): readonly (string | undefined)[] {
  const inputs = new Map(
    sheet.inputs.flatMap(({ input, from }) => ('column' in from ? [[from.column, input] as const] : [])),
  );
  return columns.map((name) => inputs.get(name));
}
