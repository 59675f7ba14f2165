// The entries of the error table about pools.

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list } from './entry.ts';

const { unreachable, usage, waitedTooLong } = EXIT;

export const POOL_ENTRIES = {
  E540: entry<{ pool: string; known: readonly string[]; near: string | undefined }>(
    usage,
    (f) => `there is no pool "${f.pool}"`,
    (f) =>
      [
        didYouMean(f.near),
        f.known.length > 0 ? `pools: ${list(f.known)};` : undefined,
        `make it, for example with 8 slots: runsheet pool set ${f.pool} --size 8`,
      ]
        .filter(Boolean)
        .join(' '),
  ),
  E541: entry<{ pool: string; batch: string; members: readonly string[] }>(
    usage,
    (f) => `batch ${f.batch} is not in pool ${f.pool}`,
    (f) => (f.members.length > 0 ? `its batches: ${list(f.members)}` : `no batch is in pool ${f.pool}`),
  ),
  E542: entry<{ pool: string; batch: string }>(
    usage,
    (f) => `batch ${f.batch} is running, so pool ${f.pool} does not release its slots`,
    (f) => `it gives them back as its runs end; to send nothing more of it: runsheet cancel ${f.batch}`,
  ),
  E543: entry<{ pool: string; seconds: number }>(
    waitedTooLong,
    (f) => `pool ${f.pool} did not confirm the command within ${f.seconds} s`,
    (f) =>
      `it takes effect when a worker has taken it: start one with runsheet worker; show it: runsheet pool show ${f.pool}`,
  ),
  E544: entry<object>(
    unreachable,
    () => 'pools can be read only while the servers on this machine are running, and they are not',
    () => 'start them, and keep them running in another terminal: runsheet dev',
  ),
} as const;
