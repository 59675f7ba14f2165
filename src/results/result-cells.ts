// The result columns of a row, for results.csv and every other export.

import { csvCell, csvLines } from '../errors/outside-text.ts';
import type { ResultColumn } from '../sheet/result-columns.ts';
import { resultAttempt, type RowRecord } from './row-record.ts';

/** A record, or the substitute for an open row. */
type Shown = Omit<RowRecord, 'outcome'> & { readonly outcome: string };
type ResultCells = Readonly<Record<ResultColumn, string>>;

/** A record as result columns: the run that the result comes from, and the cost of all attempts. */
export function cellsOf(record: Shown): ResultCells {
  const last = resultAttempt(record);
  const cost = record.attempts.reduce((sum, attempt) => sum + (attempt.cost_usd ?? 0), 0);
  return {
    row: String(record.row),
    key: record.key,
    outcome: record.outcome,
    reason: record.reason ?? '',
    run_id: last?.run_id ?? '',
    gpu_asked: record.gpu_asked ?? '',
    gpu_used: last?.gpu_used ?? '',
    attempts: String(record.attempts.length),
    queue_seconds: secondsCell(last?.queue_seconds),
    cold_start_seconds: secondsCell(last?.cold_start_seconds),
    run_seconds: secondsCell(last?.run_seconds),
    cost_usd: cost === 0 ? '' : cost.toFixed(6),
    nodes: record.files.map(({ node = '', title = node }) => title.replaceAll(/\s+/g, '_') || '-').join(' '),
    texts: (record.texts ?? []).join('\n'),
    outputs: record.files.map(({ path }) => path).join(' '),
  };
}

/** Like {@link cellsOf}, for spreadsheets: texts of the service cannot act as formulas; the user's cells stay as given. */
export function csvCellsOf(record: Shown): ResultCells {
  const cells = cellsOf(record);
  const { reason, run_id, gpu_used, nodes, texts } = cells;
  return {
    ...cells,
    reason: csvCell(reason),
    run_id: csvCell(run_id),
    gpu_used: csvCell(gpu_used),
    nodes: csvCell(nodes),
    texts: csvLines(texts),
  };
}

const secondsCell = (seconds: number | undefined): string => (seconds === undefined ? '' : String(seconds));
