// The flags of commands on existing batches.

import { OUTCOMES } from '../../batch/outcome.ts';
import { PAIRED_BY, EXPORT_FORMATS } from '../../options/choices.ts';
import {
  attemptNumber,
  boolean,
  choice,
  controlFlags,
  failureList,
  gpuFlag,
  keyList,
  optional,
  optionalChoice,
  out,
  outcomeList,
  repeatable,
  rowList,
  shownFlags,
  textFlag,
  time,
} from '../flags/flags.ts';

export const rowsFlags = {
  outcome: optionalChoice(
    [...OUTCOMES, 'open'],
    'only rows with this outcome; open: rows without one (default: all)',
  ),
  fields: optional(
    textFlag(
      'a,b',
      'columns to print: result columns, inputs and columns of the sheet (default: a selection)',
    ),
  ),
  follow: boolean('print rows as they end, until the batch ends'),
  out,
  output: choice(['table', 'csv', 'jsonl', 'json'], 'table', 'format of the rows on stdout'),
} as const;

export const openFlags = {
  serve: boolean('serve the page of an ended batch too, for a browser that cannot open its folder'),
  open: { kind: 'boolean', default: true, brief: 'do not open the browser' },
  ...shownFlags,
} as const;

export const logsFlags = {
  attempt: optional(attemptNumber('n', 'the attempt (default: the last one)')),
  ...shownFlags,
} as const;

export const exportFlags = {
  as: optionalChoice(
    EXPORT_FORMATS,
    'xlsx: Excel workbook with links and thumbnails; zip: the files (default: as --file ends, else xlsx)',
  ),
  file: optional(
    textFlag(
      'path|-',
      'file to write, or - for stdout (default: <batch>.<format> in the batch folder; of a batch in S3, here)',
    ),
  ),
  replace: boolean('replace the file if it exists'),
  ...shownFlags,
} as const;

export const compareFlags = {
  by: optionalChoice(
    PAIRED_BY,
    'what makes two rows a pair (default: key if both sheets have a key column, else inputs)',
  ),
  file: optional(textFlag('path', 'the page (default: compare-<A>-<B>.html in the folder of the batches)')),
  ...shownFlags,
} as const;

export const eventsFlags = {
  follow: boolean('print events as they happen, until the batch ends'),
  rows: boolean('also each attempt of a row: its times, GPU, outcome and cost'),
  since: optional(time('time', 'only events of the last hour (1h), day (1d) … (default: all)')),
  out,
  output: choice(['text', 'json', 'jsonl'], 'text', 'format of the events on stdout'),
} as const;

export const verifyFlags = {
  files: { kind: 'boolean', default: true, brief: 'do not read the files and compare their checksums' },
  lists: { kind: 'boolean', default: true, brief: 'do not read the run list of the service' },
  ...shownFlags,
} as const;

export const resumeFlags = {
  unconfirmed: optionalChoice(
    ['unknown', 'fail', 'resubmit'],
    'what to do with attempts that may have started a run (default: keep waiting); resubmit may buy a row twice',
  ),
  recover: boolean('rebuild a batch that Temporal lost or that no longer responds'),
  ...controlFlags,
} as const;

export const retryFlags = {
  outcome: optional(outcomeList('a,b', 'rows with these outcomes (default: failed,timed-out)')),
  row: optional(rowList('n,n-m', 'only these rows, such as 3,17-40')),
  key: optional(keyList('a,b', 'only rows with these keys')),
  failure: optional(failureList('kind,…', 'only rows whose last run failed so, such as out-of-memory')),
  gpu: optional(gpuFlag('gpu', 'send them on this GPU (default: as before)')),
  set: repeatable(textFlag('input=value', 'send them with this input changed (default: as before)')),
  fetch: boolean('only fetch files that were paid for and not delivered; buys nothing'),
  buyAgain: boolean(
    'buy new runs for rows whose files are missing, too (default: fetch the files of the runs that were paid for)',
  ),
  acceptGpu: boolean('accept that the service may use the GPU of the deployment instead of --gpu'),
  yes: boolean('do not ask, although rows may be bought a second time'),
  detach: boolean('do not follow the batch'),
  ...controlFlags,
} as const;

export const cancelFlags = {
  running: boolean('also cancel the runs that have been sent'),
  ...controlFlags,
} as const;
