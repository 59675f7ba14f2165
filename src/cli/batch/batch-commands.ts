// Lists the commands on existing batches with their arguments and their help.

import { command } from '../command.ts';
import {
  choice,
  controlFlags,
  optional,
  out,
  outputOfRows,
  quiet,
  shownFlags,
  time,
  changedLimitFlags,
} from '../flags/flags.ts';
import * as flags from './batch-flags.ts';
import { batch, batchAndRow, namedBatch, twoBatches } from '../flags/flag-kinds.ts';

export const onBatches = {
  list: command(
    async () => (await import('./list.ts')).list,
    { flags: shownFlags },
    'list the batches, newest first',
  ),
  status: command(
    async () => (await import('./status.ts')).status,
    { positional: batch, flags: shownFlags },
    'show the progress of a batch',
  ),
  follow: command(
    async () => (await import('../follow/follow-commands.ts')).follow,
    { positional: batch, flags: { out, quiet, output: outputOfRows } },
    'follow a batch until it ends',
  ),
  wait: command(
    async () => (await import('../follow/follow-commands.ts')).wait,
    {
      positional: batch,
      flags: {
        timeout: optional(
          time(
            'time',
            'stop waiting after this long, such as 2h, with exit code 7; the batch continues (default: no limit)',
          ),
        ),
        ...shownFlags,
      },
    },
    'wait silently until a batch ends (for scripts)',
  ),
  rows: command(
    async () => (await import('./rows.ts')).rows,
    { positional: batch, flags: flags.rowsFlags },
    'list the rows of a batch',
  ),
  show: command(
    async () => (await import('./rows.ts')).show,
    { positional: batchAndRow, flags: shownFlags },
    'show one row: inputs, attempts, runs, files',
    '[<batch>] <row|key> [flags]',
  ),
  open: command(
    async () => (await import('./open.ts')).default,
    { positional: batch, flags: flags.openFlags },
    'open the page of a batch, even while it runs',
  ),
  logs: command(
    async () => (await import('./logs.ts')).default,
    { positional: batchAndRow, flags: flags.logsFlags },
    "print the log of a row's run",
    '[<batch>] <row|key> [flags]',
  ),
  results: command(
    async () => (await import('./rows.ts')).results,
    {
      positional: batch,
      flags: { out, output: choice(['csv', 'jsonl', 'json'], 'csv', 'format of the results on stdout') },
    },
    'print the results, even while the batch runs',
  ),
  export: command(
    async () => (await import('./export.ts')).default,
    { positional: batch, flags: flags.exportFlags },
    'write the results as an Excel workbook, CSV, JSON lines or zip',
  ),
  compare: command(
    async () => (await import('./compare.ts')).default,
    { positional: twoBatches, flags: flags.compareFlags },
    'compare the rows of two batches, with a page side by side',
    '<A> <B> [--by key|inputs] [flags]',
  ),
  events: command(
    async () => (await import('./events.ts')).default,
    { positional: batch, flags: flags.eventsFlags },
    'list pauses, commands and notifications: when, who, why',
  ),
  verify: command(
    async () => (await import('./verify.ts')).default,
    { positional: batch, flags: flags.verifyFlags },
    'check a finished batch against its files and the run list',
  ),
  resume: command(
    async () => (await import('./resume.ts')).default,
    { positional: batch, flags: { ...changedLimitFlags, ...flags.resumeFlags } },
    'continue a paused batch, optionally with new limits',
  ),
  retry: command(
    async () => (await import('./retry.ts')).default,
    { positional: namedBatch, flags: flags.retryFlags },
    'send rows again, in the same batch',
  ),
  pause: command(
    async () => (await import('./control.ts')).pause,
    { positional: namedBatch, flags: controlFlags },
    'send nothing more until resume; runs in flight finish',
  ),
  scale: command(
    async () => (await import('./control.ts')).scale,
    { positional: namedBatch, flags: { ...changedLimitFlags, ...controlFlags } },
    'change the limits of a running batch',
    '<batch> -c <n> [flags]',
  ),
  cancel: command(
    async () => (await import('./control.ts')).cancel,
    { positional: namedBatch, flags: flags.cancelFlags },
    'send no more rows of a batch',
  ),
};
