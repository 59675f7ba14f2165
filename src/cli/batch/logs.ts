// logs: prints the log of a row's run. The service keeps logs only for a while.

import type { FlagsOf } from '../flags/flags.ts';
import type { logsFlags } from './batch-flags.ts';
import { terminalLines } from '../../errors/outside-text.ts';
import { findRow, readRunLog, runOf } from '../../library/handle/row-lines.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import { namedRow } from './rows.ts';
import { logSchema } from '../json/documents.ts';
import { nextCommand } from '../next-command.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { withLocalService } from '../command-session.ts';
import { shaped, timeOf } from '../json/shape.ts';

export default async function logs(
  this: Context,
  flags: FlagsOf<typeof logsFlags>,
  first: string | undefined,
  second: string | undefined,
): Promise<void> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  const { batchFolder, name } = await namedRow(config, 'logs', first, second);
  const row = await findRow(batchFolder, name);
  const runId = runOf(batchFolder, row, flags.attempt);
  const lines = await withLocalService(flags, batchFolder, printer, () =>
    readRunLog(config, batchFolder, runId),
  );
  if (flags.output === 'json')
    printer.json(
      shaped(logSchema, {
        run_id: runId,
        lines: (lines ?? []).map(({ atMs, ...line }) => ({ at: timeOf(atMs), ...line })),
      }),
    );
  else
    for (const { atMs, level, message } of lines ?? [])
      printer.data(terminalLines(`${new Date(atMs).toISOString()}  ${level}  ${message}`));
  if (lines === undefined || lines.length === 0)
    printer.notice(`the service shows no log of run ${runId}: it has no logs, or it has removed this one`);
  else if (flags.output === 'text') printer.notice(`${plural(lines.length, 'line')} of run ${runId}`);
  printer.next(['show', nextCommand('show', batchFolder, { more: String(row.row.row) })]);
}
