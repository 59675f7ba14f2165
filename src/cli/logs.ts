// logs: prints the log of a row's run, which the service keeps for some time.

import { EXIT, nearest, problem } from '../errors/error.ts';
import { terminalLines } from '../errors/outside-text.ts';
import { recordsOf } from '../results/batch-rows.ts';
import { openServices } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { findBatch, type FoundBatch } from './batch-name.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context } from './context.ts';

type Flags = { readonly attempt?: number; readonly out?: string; readonly output: 'text' | 'json' };

export default async function logs(this: Context, flags: Flags, name: string, row: string): Promise<number> {
  const printer = printerFor(this);
  const config = configOf(flags);
  const found = await findBatch(config.out, name);
  const runId = await runOf(found, row, flags.attempt);
  const service = openServices(config, openTransport(1)).at(found.file.service);
  const lines = await service.getRunLog(runId);
  if (lines === undefined)
    throw problem('E309', { run: runId, base: found.file.service.base });
  if (flags.output === 'json') printer.json({ run_id: runId, lines });
  else
    for (const { atMs, level, message } of lines)
      printer.data(terminalLines(`${new Date(atMs).toISOString()}  ${level}  ${message}`));
  if (lines.length === 0) printer.notice(`the service has no log of run ${runId}, or no longer`);
  return EXIT.ok;
}
