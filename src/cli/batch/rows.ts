// rows, show and results: print rows from the batch folder, even while the batch runs.

import type { FlagsOf, ShownFlags } from '../flags/flags.ts';
import type { rowsFlags } from './batch-flags.ts';
import { dirname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { problem } from '../../errors/error.ts';
import { shortened, shellWord, terminalLine } from '../../errors/outside-text.ts';
import type { AttemptRecord, FileRecord } from '../../results/row-record.ts';
import type { BatchRow } from '../../results/batch-rows.ts';
import { changedInputs } from '../../sheet/input-change.ts';
import { byNames } from '../../sheet/named-inputs.ts';
import {
  fieldsOfSheet,
  findShownRow,
  lineOf,
  refuseUnknownFields,
  resultsSoFar,
  rowLines,
  USUAL_FIELDS,
  type RowLine,
  type RowName,
} from '../../library/handle/row-lines.ts';
import type { Config } from '../../host/settings/config.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import { batchLike, type FoundBatch } from '../../library/handle/found-batch.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { fromText } from '../format.ts';
import { plural, span } from '../../options/text/printed-numbers.ts';
import { rowJson } from '../json/batch-json.ts';
import { configOf } from '../flags/batch-options.ts';
import { nextCommand } from '../next-command.ts';
import { put, rowLine } from '../follow/row-stream.ts';

type RowsFlags = FlagsOf<typeof rowsFlags>;

export async function rows(this: Context, flags: RowsFlags, name: string | undefined): Promise<void> {
  const batchFolder = await findBatch(configOf(flags), name);
  const fields = flags.fields?.split(',') ?? USUAL_FIELDS;
  refuseUnknownFields(batchFolder.file, fields);
  let [shown, first] = [0, 0];
  const wanted = async function* (): AsyncGenerator<RowLine> {
    for await (const line of flags.follow ? followed(batchFolder, fields) : rowLines(batchFolder, fields)) {
      if (flags.outcome !== undefined && line.record.outcome !== flags.outcome) continue;
      shown += 1;
      first ||= line.record.row;
      yield line;
    }
  };
  await print(this.process, wanted(), flags.output, fields);
  if (flags.output !== 'table') return;
  const printer = printerFor(this, flags);
  printer.notice(plural(shown, 'row'));
  printer.next(
    first > 0
      ? ['show', nextCommand('show', batchFolder, { more: String(first) })]
      : ['rows', nextCommand('rows', batchFolder)],
  );
}

/** Streams rows as they end. Throws E602 for a field that only the sheet has. */
async function* followed(
  { batch, folder, file }: FoundBatch,
  fields: readonly string[],
): AsyncGenerator<RowLine> {
  const [own] = fieldsOfSheet(file, fields);
  if (own !== undefined)
    throw problem('E602', {
      what: `--follow prints no columns that give no input, such as ${own}`,
      hint: 'leave --follow out, or the column',
    });
  const { connect } = await import('../../library/runsheet.ts');
  await using runsheet = await connect({ store: dirname(folder) });
  for await (const record of runsheet.getHandle(batch).rows({ follow: true })) yield lineOf(record);
}

export async function show(
  this: Context,
  flags: ShownFlags,
  first: string | undefined,
  second: string | undefined,
): Promise<void> {
  const printer = printerFor(this, flags);
  const { batchFolder, name } = await namedRow(configOf(flags), 'show', first, second);
  const shownRow = await findShownRow(batchFolder, name);
  if (flags.output === 'json') printer.json(rowJson(shownRow.shown));
  else printer.data(textOf(shownRow, batchFolder));
  printer.next(...nextOfRow(batchFolder, shownRow));
}

function nextOfRow(batchFolder: FoundBatch, { row: { row }, record }: BatchRow): readonly Next[] {
  const hasRun = record?.attempts.some((attempt) => attempt.run_id !== undefined);
  const isFailed = record?.outcome === 'failed' || record?.outcome === 'timed-out';
  return [
    ...(isFailed ? [['again', nextCommand('retry', batchFolder, { more: `--row ${row}` })] as const] : []),
    hasRun
      ? ['log', nextCommand('logs', batchFolder, { more: String(row) })]
      : ['status', nextCommand('status', batchFolder)],
  ];
}

type ResultsFlags = { readonly out?: string; readonly output: 'csv' | 'jsonl' | 'json' };

export async function results(this: Context, flags: ResultsFlags, name: string | undefined): Promise<void> {
  const batchFolder = await findBatch(configOf(flags), name);
  if (flags.output !== 'csv') return print(this.process, rowLines(batchFolder, []), flags.output, []);
  for await (const text of resultsSoFar(batchFolder)) await put(this.process.stdout, text);
  const printer = printerFor(this);
  printer.notice(plural(batchFolder.file.sheet.rows, 'row'));
  printer.next(['export', nextCommand('export', batchFolder, { more: '--as xlsx' })]);
}

/** Longest cell on a terminal, in characters; a pipe gets whole cells. */
const MAX_CELL = 60;

type RowFields = { readonly fields: readonly string[]; readonly isTerminal: boolean };

const ROWS: Readonly<Record<RowsFlags['output'], (line: RowLine, cells: RowFields) => string>> = {
  table: ({ cellOf }, { fields, isTerminal }) => {
    const cells = fields.map((field) => terminalLine(cellOf(field, 'table')));
    return `${cells.map((cell) => (isTerminal ? shortened(cell, MAX_CELL) : cell)).join('\t')}\n`;
  },
  csv: ({ cellOf }, { fields }) => stringify([fields.map((field) => cellOf(field, 'csv'))]),
  jsonl: ({ record }) => `${rowLine(record)}\n`,
  json: ({ record }) => rowLine(record),
};

const HEADS: Readonly<Record<RowsFlags['output'], (fields: readonly string[]) => string>> = {
  table: (fields) => `${fields.join('\t')}\n`,
  csv: (fields) => stringify([fields]),
  jsonl: () => '',
  json: () => '[\n',
};

async function print(
  { stdout }: NodeJS.Process,
  lines: AsyncIterable<RowLine>,
  output: RowsFlags['output'],
  fields: readonly string[],
): Promise<void> {
  let [before, isEmpty] = [HEADS[output](fields), true];
  for await (const line of lines) {
    await put(stdout, before + ROWS[output](line, { fields, isTerminal: stdout.isTTY }));
    [before, isEmpty] = [output === 'json' ? ',\n' : '', false];
  }
  if (output === 'json') await put(stdout, isEmpty ? '[]\n' : '\n]\n');
  else if (output === 'csv') await put(stdout, before);
}

const againText = ({ lost_executions: times = 0, lost_seconds: seconds = 0 }: AttemptRecord): string =>
  times === 0 ? '' : `  executed again (${span(seconds)} lost)`;

function textOf({ row, record }: BatchRow, { batch, folder, file }: FoundBatch): string {
  const inputs = Object.entries(byNames(changedInputs(row.inputs, record?.change), file.sheet.inputs)).map(
    ([name, value]) => `    ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const attempts = (record?.attempts ?? []).map(
    (attempt) =>
      `    ${attempt.attempt}. ${attempt.outcome}${attempt.run_id ? `  run ${attempt.run_id}` : ''}${attempt.gpu_used ? `  ${attempt.gpu_used}` : ''}${attempt.run_seconds === undefined ? '' : `  ${span(attempt.run_seconds)}`}${againText(attempt)}${attempt.reason ? `  ${attempt.reason}` : ''}`,
  );
  const gpu = record?.gpu_asked ?? row.gpu;
  const files = (record?.files ?? []).map((output) => `    ${folder}/${output.path}${nodeText(output)}`);
  return [
    `row ${row.row} of ${batch}: ${record?.outcome ?? 'open'}${record?.reason ? ` (${record.reason})` : ''}`,
    `  key ${row.key}${gpu ? `  gpu asked ${gpu}` : ''}`,
    ...(file.from === undefined ? [] : [`  from ${fromText(file.from)}`]),
    '  inputs',
    ...inputs,
    ...(attempts.length > 0 ? ['  attempts', ...attempts] : []),
    ...(files.length > 0 ? ['  files', ...files] : []),
  ]
    .map(terminalLine)
    .join('\n');
}

const nodeText = ({ node }: FileRecord): string => (node === undefined ? '' : `  (node ${node})`);

/** Throws E502 for an unknown batch, and E602 if no row is named or a single word could also name a batch. */
export async function namedRow(
  config: Config,
  command: string,
  first: string | undefined,
  second: string | undefined,
): Promise<{ readonly batchFolder: FoundBatch; readonly name: RowName }> {
  if (second !== undefined) return { batchFolder: await findBatch(config, first), name: nameFrom(second) };
  const batchFolder = await findBatch(config, undefined);
  if (first === undefined) return { batchFolder, name: onlyRow(batchFolder, command) };
  const meant = await batchLike(config.out, first);
  if (meant === undefined) return { batchFolder, name: nameFrom(first) };
  throw problem('E602', {
    what: `${JSON.stringify(first)} may be the batch ${meant.batch}, or a row of the newest batch ${batchFolder.batch}`,
    hint: [
      `a row of that batch, such as its first: runsheet ${command} ${meant.batch} 1`,
      `the row of the newest batch: runsheet ${command} ${batchFolder.batch} ${shellWord(first)}`,
    ].join('\n'),
  });
}

/** Throws E602 if the batch has several rows. */
function onlyRow({ batch, file }: FoundBatch, command: string): RowName {
  const { rows: count } = file.sheet;
  if (count === 1) return { row: 1 };
  throw problem('E602', {
    what: `no row is named, and the newest batch ${batch} has ${count}`,
    hint: `name its number or key, such as its first: runsheet ${command} ${batch} 1`,
  });
}

const nameFrom = (word: string): RowName => ({
  row: /^[1-9]\d{0,9}$/.test(word) ? Number(word) : undefined,
  key: word,
});
