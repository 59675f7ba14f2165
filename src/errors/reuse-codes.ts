// The entries of the error table about rows and results that earlier batches have.

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list } from './entry.ts';
import { FROM_ENTRIES } from './from-codes.ts';

const { inputRefused, usage } = EXIT;

export const REUSE_ENTRIES = {
  ...FROM_ENTRIES,
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
  E538: entry<{ batch: string; rows: number; reuse: string; again: string }>(
    usage,
    (f) => `batch ${f.batch} has these ${f.rows} rows, and has ended`,
    (f) => `to read its results: ${f.reuse}\nto run all rows again: ${f.again}`,
  ),
  E531: entry<{ rows: string; batches: readonly string[]; again: string }>(
    usage,
    (f) => f.rows,
    (f) =>
      `wait for the end and repeat the command: ${f.batches.map((batch) => `runsheet wait ${batch}`).join(' && ')}; if no server runs it: ${f.batches.map((batch) => `runsheet resume ${batch}`).join(' && ')}; to send nothing more of it: ${f.batches.map((batch) => `runsheet cancel ${batch}`).join(' && ')}\nto run all rows now, although these may be bought twice:\n  ${f.again}`,
  ),
  E532: entry<{
    name: string;
    batch: string;
    missing: readonly string[];
    others: readonly string[];
    columns: readonly string[];
    near: string | undefined;
  }>(
    inputRefused,
    (f) => {
      const texts = [
        ...(f.missing.length > 0 ? [`lacks ${list(f.missing)}`] : []),
        ...(f.others.length > 0 ? [`has ${list(f.others)}`] : []),
      ];
      return `${f.name} does not have the columns of ${f.batch}: it ${texts.join(' and ')}`;
    },
    (f) => [didYouMean(f.near), `columns of the batch: ${list(f.columns)}`].filter(Boolean).join(' '),
  ),
  E534: entry<{ name: string; batch: string; into: string; again: string }>(
    usage,
    (f) => `the rows of ${f.name} are rows of ${f.batch}`,
    (f) =>
      `to send those that you changed again, in that batch:\n  ${f.into}\nto make a new batch of them:\n  ${f.again}`,
  ),
  E533: entry<{ name: string; batch: string; count: number; rows: readonly string[] }>(
    inputRefused,
    (f) =>
      `${f.count} ${f.count === 1 ? 'row' : 'rows'} of ${f.name} would change what ${f.batch} has bought or is running: ${f.rows.join(', ')}${f.count > f.rows.length ? ', …' : ''}; nothing was sent`,
    (f) =>
      `take these rows out of the sheet, or give them keys of their own; to see what they have: runsheet rows ${f.batch}. To buy one of them again with other inputs, see: runsheet retry --help`,
  ),
} as const;
