// logs: prints the log of a row's run, which the service keeps for some time.

import { EXIT } from '../errors/error.ts';
import { terminalLines } from '../errors/outside-text.ts';
import { findBatch } from '../library/found-batch.ts';
import { readRunLog } from '../library/run-log.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context } from './context.ts';

type Flags = { readonly attempt?: number; readonly out?: string; readonly output: 'text' | 'json' };

export default async function logs(this: Context, flags: Flags, name: string, row: string): Promise<number> {
  const printer = printerFor(this);
  const config = configOf(flags);
  const found = await findBatch(config.out, name);
  const { runId, lines } = await readRunLog(config, found, nameFrom(row), flags.attempt);
  if (flags.output === 'json') printer.json({ run_id: runId, lines: lines ?? [] });
  else
    for (const { atMs, level, message } of lines ?? [])
      printer.data(terminalLines(`${new Date(atMs).toISOString()}  ${level}  ${message}`));
  if (lines === undefined || lines.length === 0)
    printer.notice(`the service shows no log of run ${runId}: it has no logs, or it has removed this one`);
  return EXIT.ok;
}

const nameFrom = (word: string) => ({
  row: /^[1-9]\d{0,9}$/.test(word) ? Number(word) : undefined,
  key: word,
});
