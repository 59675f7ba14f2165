// The entries of the error table about deployments and their GPUs.

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list } from './entry.ts';

const { inputRefused } = EXIT;

export const DEPLOYMENT_ENTRIES = {
  E302: entry<{
    wanted: string;
    base: string;
    known: readonly string[];
    near?: string | undefined;
    isAmbiguous?: boolean;
  }>(
    inputRefused,
    (f) =>
      f.isAmbiguous
        ? `the run service at ${f.base} has several deployments "${f.wanted}"; name one by its id`
        : `the run service at ${f.base} has no deployment "${f.wanted}"`,
    (f) =>
      [didYouMean(f.near), f.known.length > 0 ? `deployments: ${list(f.known)}` : undefined]
        .filter(Boolean)
        .join(' ') || 'it lists none; make one there, or check RUNSHEET_API_URL and the key',
  ),
  E313: entry<{ base: string }>(
    inputRefused,
    (f) => `the run service at ${f.base} does not list its deployments`,
    () => 'it may still know one by its id, a UUID: give that instead of a name',
  ),
  E314: entry<{ what: string }>(
    inputRefused,
    (f) => f.what,
    () =>
      'remove the GPU from the deployment, or the GPUs from the sheet and the command; to send the rows as they are, add: --accept-gpu',
  ),
} as const;
