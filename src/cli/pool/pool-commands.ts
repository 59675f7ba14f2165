// Lists the commands on pools with their arguments and their help.

import { buildRouteMap } from '@stricli/core';
import { command } from '../command.ts';
import { name } from '../flags/flag-values.ts';
import { out, output } from '../flags/flags.ts';
import { poolSize } from '../flags/pool-flags.ts';
import { alias } from '../flags/positionals.ts';
import { proposing } from '../completion/propose.ts';

const flags = { out, output };
const pool = proposing({ brief: 'name of the pool', placeholder: 'pool', parse: name } as const, 'pools');
const named = { kind: 'tuple', parameters: [pool] } as const;

export const onPools = buildRouteMap({
  routes: {
    list: command(async () => (await import('./pool.ts')).list, { flags, aliases: alias }, 'list the pools'),
    show: command(
      async () => (await import('./pool.ts')).show,
      { positional: named, flags, aliases: alias },
      'show a pool and its batches',
    ),
    set: command(
      async () => (await import('./pool.ts')).set,
      {
        positional: named,
        flags: {
          size: poolSize('n', 'how many runs of its batches may be outstanding at the same time'),
          ...flags,
        },
        aliases: alias,
      },
      'make a pool, or change its size',
      '<pool> --size <n> [flags]',
    ),
    release: command(
      async () => (await import('./pool.ts')).release,
      {
        positional: {
          kind: 'tuple',
          parameters: [pool, { brief: 'batch id', placeholder: 'batch', parse: String }],
        },
        flags,
        aliases: alias,
      },
      'free the slots of a batch that was terminated and has no more runs',
    ),
  },
  defaultCommand: 'list',
  docs: { brief: 'share slots between batches' },
});
