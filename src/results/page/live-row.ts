// A row as the page takes it from the local server while its batch runs.

import { terminalLine } from '../../errors/outside-text.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { RowRecord } from '../row-record.ts';
import { beginningOf, cellOf } from './report-row.ts';

const CELL_SHOWN = 240;
const REASON_SHOWN = 160;

/** Its fields are those that `put` in `page/table.js` reads. Times are in milliseconds since 1970. */
export type LiveRow = ReturnType<typeof liveRow>;

export function liveRow(
  { row, key, outcome, reason, inputs, files, attempts }: RowRecord,
  inputOf: readonly (string | undefined)[],
) {
  const [first] = files;
  return {
    row,
    key,
    outcome,
    ...(reason === undefined ? {} : { reason: terminalLine(beginningOf(reason, REASON_SHOWN)) }),
    cells: inputOf.map((input) =>
      input === undefined ? '' : beginningOf(cellOf(inputs[input]), CELL_SHOWN).replaceAll(/[\n\r]+/g, ' '),
    ),
    files: files.length,
    ...(first && { file: first.path, bytes: first.bytes, sha: first.sha256.slice(0, 16) }),
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

const timeOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time) || undefined;
