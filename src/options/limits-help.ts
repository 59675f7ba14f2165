// What the table of options says about limits; the workflows, which check limits too, have no use for it.

import type { LimitName } from './limits.ts';

/** The help of limits. `usual`: what holds if the option is not given. */
export const HELP = {
  concurrency: {
    group: 'speed',
    help: 'maximum runs at the same time; auto or auto:64 finds the useful number from queueing times and 429, at most 256 or 64',
    usual: "twice the deployment's limit",
    alias: 'c',
  },
  retries: {
    group: 'failures',
    help: 'maximum retries of a row whose run failed or timed out',
    usual: '2',
  },
  retry: {
    group: 'failures',
    help: 'retries by the kind of failure, such as out-of-memory=0,timeout=1',
    usual: 'as --retries; out-of-memory 1',
  },
  rate: { group: 'speed', help: 'maximum runs started in a minute', usual: 'none' },
  gpuConcurrency: {
    group: 'speed',
    help: 'maximum runs at the same time by GPU, such as H100=2,A10G=16',
    usual: 'none',
  },
  failAfter: {
    group: 'failures',
    help: 'pause after n rows without success, or n % of the rows that ended, from 20 rows on',
    usual: 'none',
  },
  deadline: {
    group: 'money',
    help: 'pause at this time, 2026-12-24T06:00, or so long after this command, 8h',
    usual: 'none',
  },
  maxCost: {
    group: 'money',
    help: 'pause before the runs could cost more US dollars than this, such as 20 or 7.50',
    usual: 'none',
  },
  pool: {
    group: 'pool',
    help: 'share the slots of this pool, which has to exist, with its other batches',
    usual: 'none',
    form: 'pool',
    proposes: 'pools',
  },
  weight: {
    group: 'pool',
    help: 'share of a pool, compared with equally urgent batches: 3 gets three times as much as 1',
    usual: '1',
  },
  urgency: { group: 'pool', help: 'in a pool, more urgent batches come first, from 0 to 9', usual: '0' },
  notify: {
    group: 'notifications',
    help: 'notify when the batch is done, pauses, has many failed rows or has spent half of --max-cost; at most 5 of https://…, slack:, mailto:a@b, exec:./script',
    usual: 'none',
  },
  notifyFailed: {
    group: 'notifications',
    help: 'which rows without success are many for --notify',
    usual: '5%, from 20 rows on',
  },
} as const satisfies Readonly<Record<LimitName, object>>;
