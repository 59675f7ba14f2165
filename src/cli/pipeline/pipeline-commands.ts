// Lists the commands on pipelines with their arguments and their help.

import { buildRouteMap } from '@stricli/core';
import { command } from '../command.ts';
import { keyList, optional, out, quiet, rowList, shownFlags, textFlag } from '../flags/flags.ts';
import { argument, maybe, positional } from '../flags/flag-kinds.ts';

const name = 'name of a pipeline, or the beginning of one';
const newest = positional(maybe(argument('pipeline', `${name} (default: the newest pipeline)`)));
const named = positional(argument('pipeline', name));

export const onPipelines = buildRouteMap({
  routes: {
    list: command(
      async () => (await import('./pipeline.ts')).list,
      { flags: shownFlags },
      'list the pipelines and their stages, newest first',
    ),
    show: command(
      async () => (await import('./pipeline.ts')).show,
      { positional: newest, flags: shownFlags },
      'show the stages of a pipeline, and what helps where one waits',
    ),
    follow: command(
      async () => (await import('./pipeline.ts')).follow,
      { positional: newest, flags: { out, quiet } },
      'continue a pipeline if nothing runs it, and follow it until it ends or waits for you',
    ),
    cancel: command(
      async () => (await import('./pipeline.ts')).cancel,
      { positional: named, flags: { out } },
      'begin no more stages, and cancel the batches that run with their runs',
    ),
  },
  defaultCommand: 'list',
  docs: { brief: 'batches whose sheets are the results of others, from a job file with stages' },
});

export const pick = command(
  async () => (await import('./pick.ts')).default,
  {
    positional: positional(argument('pipeline', name), argument('stage', 'the stage that waits for picks')),
    flags: {
      picks: optional(
        textFlag(
          'file',
          'the rows to take, by its column key or row; the page of a batch saves one as picks.csv',
        ),
      ),
      key: optional(keyList('a,b', 'the keys of the rows to take')),
      row: optional(rowList('rows', 'their numbers, such as 3,17-40')),
      out,
      quiet,
    },
  },
  'give a stage of a pipeline the rows that it takes, and follow the pipeline',
  ['--picks <file>', '--key <a,b>', '--row <rows>'].map((one) => `<pipeline> <stage> ${one}`).join(' | '),
);
