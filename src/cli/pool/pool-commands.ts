// Lists the commands on pools with their arguments and their help.

import { buildRouteMap } from '@stricli/core';
import { command } from '../command.ts';
import { POOL_SIZE_MAX } from '../../options/bounds.ts';
import { named as nameKind } from '../../options/kinds.ts';
import { valueFrom } from '../flags/flag-kinds.ts';
import { argument, positional } from '../flags/positionals.ts';
import { out, output, wholeFlag } from '../flags/flags.ts';

const flags = { out, output };
const pool = { ...argument('pool', 'name of the pool', 'pools'), parse: valueFrom(nameKind) };
const named = positional(pool);

export const onPools = buildRouteMap({
  routes: {
    list: command(async () => (await import('./pool.ts')).list, { flags }, 'list the pools'),
    show: command(
      async () => (await import('./pool.ts')).show,
      { positional: named, flags },
      'show a pool and its batches',
    ),
    set: command(
      async () => (await import('./pool.ts')).set,
      {
        positional: named,
        flags: {
          size: wholeFlag(0, POOL_SIZE_MAX)(
            'n',
            'how many runs of its batches may be outstanding at the same time',
          ),
          ...flags,
        },
      },
      'make a pool, or change its size',
      '<pool> --size <n> [flags]',
    ),
    release: command(
      async () => (await import('./pool.ts')).release,
      {
        positional: positional(pool, argument('batch', 'batch id')),
        flags,
      },
      'free the slots of a batch that was terminated and has no more runs',
    ),
  },
  defaultCommand: 'list',
  docs: { brief: 'share slots between batches' },
});
