// Lists the commands on existing batches with their arguments and their help.

import { OUTCOMES } from '../../batch/outcome.ts';
import { EXPORT_FORMATS } from '../../results/export/formats.ts';
import { command } from '../command.ts';
import {
  attemptNumber,
  boolean,
  choice,
  controlFlags,
  failureList,
  gpuFlag,
  keyList,
  outcomeList,
  rowList,
  optional,
  out,
  output,
  outputOfRows,
  quiet,
  repeatable,
  time,
  textFlag,
} from '../flags/flags.ts';
import { changedLimitFlags } from '../flags/option-flags.ts';
import { PAIRED_BY } from '../../results/compare/paired-rows.ts';
import { alias, batch, batchAndRow, namedBatch, twoBatches } from '../flags/positionals.ts';

export const onBatches = {
  list: command(
    async () => (await import('./status.ts')).list,
    { flags: { out, output }, aliases: alias },
    'list the batches, newest first',
  ),
  status: command(
    async () => (await import('./status.ts')).status,
    { positional: batch, flags: { out, output }, aliases: alias },
    'show the progress of a batch',
  ),
  watch: command(
    async () => (await import('../follow/watch.ts')).watch,
    {
      positional: batch,
      flags: { out, quiet, output: outputOfRows },
      aliases: { o: 'output', q: 'quiet' },
    },
    'follow a batch until it ends',
  ),
  wait: command(
    async () => (await import('../follow/watch.ts')).wait,
    {
      positional: batch,
      flags: {
        timeout: optional(
          time(
            'time',
            'stop waiting after this long, such as 2h, with exit code 7; the batch continues (default: no limit)',
          ),
        ),
        out,
        output,
      },
      aliases: alias,
    },
    'wait silently until a batch ends (for scripts)',
  ),
  rows: command(
    async () => (await import('./rows.ts')).rows,
    {
      positional: batch,
      flags: {
        outcome: {
          kind: 'enum',
          values: [...OUTCOMES, 'open'],
          optional: true,
          brief: 'only rows with this outcome; open: rows without one (default: all)',
        },
        fields: optional(
          textFlag(
            'a,b',
            'columns to print: result columns, inputs and columns of the sheet (default: a selection)',
          ),
        ),
        follow: boolean('print rows as they end, until the batch ends'),
        out,
        output: choice(['table', 'csv', 'jsonl', 'json'], 'table', 'format of the rows on stdout'),
      },
      aliases: { o: 'output', f: 'follow' },
    },
    'list the rows of a batch',
  ),
  show: command(
    async () => (await import('./rows.ts')).show,
    {
      positional: batchAndRow,
      flags: { out, output },
      aliases: alias,
    },
    'show one row: inputs, attempts, runs, files',
    '[<batch>] <row|key> [flags]',
  ),
  open: command(
    async () => (await import('./open.ts')).default,
    {
      positional: batch,
      flags: {
        serve: boolean('serve the page of an ended batch too, for a browser that cannot open its folder'),
        open: { kind: 'boolean', default: true, brief: 'open the browser, if this is a terminal' },
        out,
        output,
      },
      aliases: alias,
    },
    'open the page of a batch; while it runs, with the rows as they end, until Ctrl-C',
  ),
  logs: command(
    async () => (await import('./logs.ts')).default,
    {
      positional: batchAndRow,
      flags: { attempt: optional(attemptNumber('n', 'the attempt (default: the last one)')), out, output },
      aliases: alias,
    },
    "print the log of a row's run",
    '[<batch>] <row|key> [flags]',
  ),
  results: command(
    async () => (await import('./rows.ts')).results,
    {
      positional: batch,
      flags: { out, output: choice(['csv', 'jsonl', 'json'], 'csv', 'format of the results on stdout') },
      aliases: alias,
    },
    'print the results, also while the batch runs',
  ),
  export: command(
    async () => (await import('./export.ts')).default,
    {
      positional: batch,
      flags: {
        as: {
          kind: 'enum',
          values: EXPORT_FORMATS,
          optional: true,
          brief:
            'xlsx: Excel workbook with links and thumbnails; zip: the files (default: as --file ends, else xlsx)',
        },
        file: optional(
          textFlag(
            'path|-',
            'file to write, or - for stdout (default: <batch>.<format> in the batch folder; of a batch in S3, here)',
          ),
        ),
        excel: boolean('CSV that Excel reads without losing letters, and without formulas'),
        replace: boolean('replace the file if it exists'),
        out,
        output,
      },
      aliases: alias,
    },
    'write the results as an Excel workbook, CSV, JSON lines or a zip of the files',
  ),
  compare: command(
    async () => (await import('./compare.ts')).default,
    {
      positional: twoBatches,
      flags: {
        by: {
          kind: 'enum',
          values: PAIRED_BY,
          optional: true,
          brief: 'what makes two rows a pair (default: key if both sheets have a key column, else inputs)',
        },
        file: optional(
          textFlag('path', 'the page (default: compare-<A>-<B>.html in the folder of the batches)'),
        ),
        serve: boolean('serve the page until Ctrl-C, for a browser that cannot open the folder'),
        out,
        output,
      },
      aliases: alias,
    },
    'compare the same rows in two batches: outcomes, time, cost; and a page with both side by side',
    '<A> <B> [--by key|inputs] [flags]',
  ),
  events: command(
    async () => (await import('./events.ts')).default,
    {
      positional: batch,
      flags: {
        follow: boolean('print events as they happen, until the batch ends'),
        rows: boolean('also each attempt of a row: its times, GPU, outcome and cost'),
        since: optional(time('time', 'only events of the last hour (1h), day (1d) … (default: all)')),
        out,
        output: choice(['text', 'json', 'jsonl'], 'text', 'format of the events on stdout'),
      },
      aliases: { o: 'output', f: 'follow' },
    },
    'list pauses, commands and notifications of a batch: when, who, why; and with --rows its attempts',
  ),
  verify: command(
    async () => (await import('./verify.ts')).default,
    {
      positional: batch,
      flags: {
        files: { kind: 'boolean', default: true, brief: 'also read every file and compare its checksum' },
        lists: { kind: 'boolean', default: true, brief: 'also read the run list of the service' },
        out,
        output,
      },
      aliases: alias,
    },
    "check a finished batch against its files and the service's run list",
  ),
  resume: command(
    async () => (await import('./resume.ts')).default,
    {
      positional: batch,
      flags: {
        unconfirmed: {
          kind: 'enum',
          values: ['unknown', 'fail', 'resubmit'],
          optional: true,
          brief:
            'what to do with attempts that may have started a run (default: keep waiting); resubmit may buy a row twice',
        },
        recover: boolean('rebuild a batch that Temporal lost or that no longer responds'),
        ...changedLimitFlags,
        ...controlFlags,
        out,
        output,
      },
      aliases: { ...alias, c: 'concurrency' },
    },
    'continue a paused batch, also with other limits',
  ),
  retry: command(
    async () => (await import('./retry.ts')).default,
    {
      positional: namedBatch,
      flags: {
        outcome: optional(outcomeList('a,b', 'rows with these outcomes (default: failed,timed-out)')),
        row: optional(rowList('n,n-m', 'only these rows, such as 3,17-40')),
        key: optional(keyList('a,b', 'only rows with these keys')),
        failure: optional(failureList('kind,…', 'only rows whose last run failed so, such as out-of-memory')),
        gpu: optional(gpuFlag('gpu', 'send them on this GPU (default: as before)')),
        set: repeatable(textFlag('input=value', 'send them with this input changed (default: as before)')),
        buyAgain: boolean(
          'buy new runs for rows whose files are missing, too (default: fetch the files of the runs that were paid for)',
        ),
        acceptGpu: boolean('accept that the service may use the GPU of the deployment instead of --gpu'),
        yes: boolean('do not ask, although rows may be bought a second time'),
        detach: boolean('do not follow the batch'),
        ...controlFlags,
        out,
        output,
      },
      aliases: { ...alias, y: 'yes' },
    },
    'send rows again, in the same batch',
  ),
  pause: command(
    async () => (await import('./control.ts')).pause,
    {
      positional: namedBatch,
      flags: { ...controlFlags, out, output },
      aliases: alias,
    },
    'send nothing more until resume; runs that have been sent finish',
  ),
  scale: command(
    async () => (await import('./control.ts')).scale,
    {
      positional: namedBatch,
      flags: { ...changedLimitFlags, ...controlFlags, out, output },
      aliases: { ...alias, c: 'concurrency' },
    },
    'change the limits of a running batch',
    '<batch> -c <n> [flags]',
  ),
  cancel: command(
    async () => (await import('./control.ts')).cancel,
    {
      positional: namedBatch,
      flags: { running: boolean('also cancel the runs that have been sent'), ...controlFlags, out, output },
      aliases: alias,
    },
    'send no more rows of a batch',
  ),
};
