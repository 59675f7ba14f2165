// logs: prints the log of a row's run, which the service keeps for some time.

import { EXIT, problem } from '../errors/error.ts';
import { terminalLines } from '../errors/outside-text.ts';
import { countRows, rowOf, rowsOf, type BatchRow } from '../results/batch-rows.ts';
import { openServices } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { findBatch, type FoundBatch } from '../library/found-batch.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context } from './context.ts';

type Flags = { readonly attempt?: number; readonly out?: string; readonly output: 'text' | 'json' };

export default async function logs(this: Context, flags: Flags, name: string, row: string): Promise<number> {
  const printer = printerFor(this);
  const config = configOf(flags);
  const found = await findBatch(config.out, name);
  const runId = runOf(found, await find(found, row), flags.attempt);
  const service = openServices(config, openTransport(1)).at(found.file.service);
  const lines = await service.getRunLog(runId);
  if (flags.output === 'json') printer.json({ run_id: runId, lines: lines ?? [] });
  else
    for (const { atMs, level, message } of lines ?? [])
      printer.data(terminalLines(`${new Date(atMs).toISOString()}  ${level}  ${message}`));
  if (lines === undefined || lines.length === 0)
    printer.notice(`the service shows no log of run ${runId}: it has no logs, or it has removed this one`);
  return EXIT.ok;
}

/** A row by its number or its key. Throws E505. */
async function find({ batch, store, file }: FoundBatch, name: string): Promise<BatchRow> {
  const number = /^[1-9]\d{0,9}$/.test(name) ? Number(name) : undefined;
  const byNumber = number === undefined ? undefined : await rowOf(store, file, number);
  if (byNumber !== undefined) return byNumber;
  for await (const one of rowsOf(store, file)) if (one.row.key === name) return one;
  throw problem('E505', { batch, row: name, rows: await countRows(store, file) });
}

/** The run of this attempt, or of the last one that has a run. Throws E519. */
function runOf({ batch }: FoundBatch, { row, record }: BatchRow, attempt: number | undefined): string {
  const attempts = record?.attempts ?? [];
  const found = attempts.findLast(
    (one) => one.run_id !== undefined && (attempt === undefined || one.attempt === attempt),
  );
  if (found?.run_id === undefined) throw problem('E519', { batch, row: row.row, attempt });
  return found.run_id;
}
