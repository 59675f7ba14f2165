// Writes report.html: one page that opens offline from the folder. Text from sheets and services is data in it, never markup:
// the page's script inserts it as text.

import { createHash } from 'node:crypto';
import { htmlJson, htmlText, terminalLine } from '../errors/outside-text.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import { REPORT_BODY, REPORT_SCRIPT, REPORT_STYLE } from './report-page.ts';
import type { RowRecord } from './row-record.ts';
import { recordOf, rowsOf } from './batch-rows.ts';
import type { Summary } from './summary.ts';

/** Maximum number of rows shown. Rows that did not succeed have priority. */
const ROWS_SHOWN = 2_000;

/** Characters of a cell or a reason, of all inputs of a row, and files of a row: the page stays below some ten MiB. */
const CELL_SHOWN = 500;
const INPUTS_SHOWN = 4_000;
const FILES_SHOWN = 20;

type ShownRow = Pick<RowRecord, 'row' | 'key' | 'outcome'> & {
  /** As text with all digits; a long value is cut. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The number of inputs that are not shown. */
  readonly more?: number;
  readonly reason?: string;
  readonly gpu?: string;
  readonly seconds?: number;
  readonly cost?: number;
  readonly attempts: number;
  readonly files: readonly string[];
};

/** The page; building it reads every row. */
export async function reportOf(store: Store, file: BatchFile, summary: Summary): Promise<string> {
  return pageOf(file, summary, await shownRows(store, file, summary.pass));
}

async function shownRows(store: Store, file: BatchFile, through: number): Promise<readonly ShownRow[]> {
  const succeeded: ShownRow[] = [];
  const others: ShownRow[] = [];
  for await (const row of rowsOf(store, file, { through })) {
    const record = recordOf(row);
    const list = record.outcome === 'succeeded' ? succeeded : others;
    if (list.length < ROWS_SHOWN) list.push(shown(record));
  }
  return [...others, ...succeeded.slice(0, ROWS_SHOWN - others.length)].sort((a, b) => a.row - b.row);
}

function shown(record: RowRecord): ShownRow {
  const last = record.attempts.at(-1);
  const cost = record.attempts.reduce((sum, attempt) => sum + (attempt.cost_usd ?? 0), 0);
  return {
    row: record.row,
    key: record.key,
    outcome: record.outcome,
    ...shownInputs(record.inputs),
    attempts: record.attempts.length,
    files: record.files.slice(0, FILES_SHOWN).map(({ path }) => path),
    ...(record.reason === undefined ? {} : { reason: terminalLine(beginningOf(record.reason)) }),
    ...(last?.gpu_used === undefined ? {} : { gpu: terminalLine(last.gpu_used) }),
    ...(last?.run_seconds === undefined ? {} : { seconds: last.run_seconds }),
    ...(cost === 0 ? {} : { cost }),
  };
}

function shownInputs(inputs: RowRecord['inputs']): Pick<ShownRow, 'inputs' | 'more'> {
  const all = Object.entries(inputs);
  const named: [string, string][] = [];
  let room = INPUTS_SHOWN;
  for (const [name, value] of all) {
    const text = beginningOf(typeof value === 'string' ? value : JSON.stringify(value));
    room -= name.length + text.length;
    if (room < 0) break;
    named.push([name, text]);
  }
  const more = all.length - named.length;
  return { inputs: Object.fromEntries(named), ...(more === 0 ? {} : { more }) };
}

/** A copy: a slice of a string would keep the whole of it in memory. */
const beginningOf = (text: string): string =>
  text.length > CELL_SHOWN ? `${Buffer.from(text.slice(0, CELL_SHOWN)).toString()}…` : text;

/** Removes invisible characters from the service's texts. */
const shownSummary = (summary: Summary): Summary => ({
  ...summary,
  deployment: terminalLine(summary.deployment),
  gpus: Object.fromEntries(Object.entries(summary.gpus).map(([gpu, use]) => [terminalLine(gpu), use])),
});

function pageOf(file: BatchFile, summary: Summary, rows: readonly ShownRow[]): string {
  const data = {
    summary: shownSummary(summary),
    rows,
    sheet: { name: file.sheet.name, sha256: file.sheet.sha256 },
  };
  const policy = [
    "default-src 'none'",
    "img-src 'self' data: file:",
    "media-src 'self' file:",
    `style-src '${digestOf(REPORT_STYLE)}'`,
    `script-src '${digestOf(REPORT_SCRIPT)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${htmlText(file.batch)}</title>
<style>${REPORT_STYLE}</style>
</head>
${REPORT_BODY}
<script type="application/json" id="data">${htmlJson(data)}</script>
<script>${REPORT_SCRIPT}</script>
</html>
`;
}

const digestOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
