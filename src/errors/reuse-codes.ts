// The entries of the error table about rows that earlier batches have.

import { EXIT } from './exit-codes.ts';
import { entry } from './entry.ts';

const { usage } = EXIT;

export const REUSE_ENTRIES = {
  E530: entry<{
    rows: string;
    isVersionSure: boolean;
    left: number;
    all: number;
    reuse: string;
    again: string;
  }>(
    usage,
    (f) =>
      `${f.rows}${f.isVersionSure ? '' : '; the run service does not tell whether the deployment has changed since'}`,
    (f) =>
      `to reuse their results and run ${f.left} of ${f.all} rows:\n  ${f.reuse}\nto run all ${f.all} rows again:\n  ${f.again}`,
  ),
  E531: entry<{ rows: string; batches: readonly string[]; again: string }>(
    usage,
    (f) => f.rows,
    (f) =>
      `wait for the end and repeat the command: ${f.batches.map((batch) => `runsheet wait ${batch}`).join(' && ')}; if no server runs it: runsheet resume ${f.batches.join(' or ')}\nto run all rows now, although these may be bought twice:\n  ${f.again}`,
  ),
} as const;
