// The entries of the error table about batches that are made from the results of another one (--from).

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list, textFromThrower } from './entry.ts';

const { inputRefused, usage } = EXIT;

export const FROM_ENTRIES = {
  E550: textFromThrower(usage),
  E551: entry<{ batch: string }>(
    usage,
    (f) => `batch ${f.batch} has not ended, so its results cannot be a sheet yet`,
    (f) => `wait for its end: runsheet wait ${f.batch}; if no server runs it: runsheet resume ${f.batch}`,
  ),
  E552: entry<{
    name: string;
    batch: string;
    column: string;
    count: number;
    first: readonly string[];
    near: string | undefined;
    wrong: string;
  }>(
    inputRefused,
    (f) =>
      `${f.count} ${f.count === 1 ? 'row' : 'rows'} of ${f.name} ${f.count === 1 ? 'is' : 'are'} not in batch ${f.batch}: ${f.column} ${list(f.first)}${f.count > f.first.length ? ', …' : ''}`,
    (f) =>
      `${f.near === undefined ? '' : `did you mean ${f.near} for ${f.wrong}? `}list the rows: runsheet rows ${f.batch}`,
  ),
  E553: entry<{ batch: string; rows: number; where: string; outcomes: string }>(
    inputRefused,
    (f) => `no row of batch ${f.batch} matches ${f.where}`,
    (f) => `its ${f.rows} rows: ${f.outcomes}; list them: runsheet rows ${f.batch}`,
  ),
  E554: entry<{ at: string; what: string; deadline: string }>(
    inputRefused,
    (f) =>
      `the run service gives ${f.what} addresses that expire at ${f.at}; a row that is sent later would run without its input and be paid for`,
    (f) =>
      `to pause the batch before that, add: --deadline ${f.deadline}. For more rows than fit into that time, copy the files to a place of your own and make a sheet with their addresses`,
  ),
  E555: entry<{ file: string; batch: string; why: string }>(
    inputRefused,
    (f) => `${f.file} of batch ${f.batch} cannot be an input: ${f.why}`,
    () => 'copy the files to a place that the run service can read, and make a sheet with their addresses',
  ),
  E556: textFromThrower(inputRefused),
  E570: entry<{ a: string; b: string; by: string; other: string | undefined }>(
    inputRefused,
    (f) =>
      `${f.a} and ${f.b} share no row: no two rows have the same ${f.other === undefined ? 'key, nor the same inputs' : f.by}`,
    (f) =>
      f.other === undefined
        ? `show what they have: runsheet rows ${f.a}; and: runsheet rows ${f.b}`
        : `pair them otherwise: runsheet compare ${f.a} ${f.b} --by ${f.other}`,
  ),
  E557: entry<{ batch: string; keys: readonly string[]; near: string | undefined }>(
    usage,
    (f) => `batch ${f.batch} has no row with the ${f.keys.length === 1 ? 'key' : 'keys'} ${list(f.keys)}`,
    (f) => [didYouMean(f.near), `list its rows: runsheet rows ${f.batch}`].filter(Boolean).join(' '),
  ),
} as const;
