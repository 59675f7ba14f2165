// Writes the flags of a command as a job file.

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { stringify } from 'smol-toml';
import { flagOf } from '../../options/written-options.ts';
import { problem } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import { isAddress } from '../../errors/redact.ts';
import type { Guess } from '../../sheet/guesses/guess.ts';
import { NO_SHEET } from '../flags/batch-options.ts';
import { isJob, JOB_FLAGS, snake, withPath, type WrittenFlags } from './job-file.ts';
import { flagsIn } from './job-words.ts';

type Value = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** Throws E602 for a file that is no job, or that exists. */
export function refuseJobFile(path: string): void {
  if (!isJob(path))
    throw problem('E602', {
      what: `--write ${path} is no name of a job`,
      hint: 'for example --write nightly.job.toml',
    });
  if (existsSync(path))
    throw problem('E602', { what: `${path} exists`, hint: 'choose another name, or remove the file' });
}

/** Paths in the file count from its folder. Throws the fault of a file that cannot be written. */
export function writeJob(
  path: string,
  words: readonly string[],
  sheet: string,
  guesses: readonly Guess[],
  letters: Readonly<Record<string, string>>,
): void {
  const folder = dirname(resolve(path));
  const answers = guesses.filter(({ flags }) => !flags.includes('include'));
  const given = flagsIn([...answers.flatMap(({ flags }) => flags), ...words], letters);
  const shown = (place: string): string => (isAddress(place) ? place : relative(folder, resolve(place)));
  const table: Record<string, Value> = sheet === '-' || sheet === NO_SHEET ? {} : { sheet: shown(sheet) };
  try {
    const lines = linesOf({ ...table, ...flagTable(given, shown) });
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { flag: 'wx' });
  } catch (error) {
    throw fileFault(error, { path }) ?? error;
  }
}

/** Flags as lines of a job file. */
export const jobLines = (words: readonly string[]): readonly string[] =>
  linesOf(flagTable(flagsIn(words, {}), String));

/** Each can stand alone: what a user adds behind the last one is not in its table. */
const linesOf = (table: Readonly<Record<string, Value>>): readonly string[] =>
  Object.entries(table).map(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? `${name} = { ${stringify(value).trim().replaceAll('\n', ', ')} }`
      : stringify({ [name]: value }).trim(),
  );

function flagTable(given: WrittenFlags, shown: (place: string) => string) {
  const table: Record<string, Value> = {};
  for (const [flag, { variadic }] of Object.entries(JOB_FLAGS)) {
    const value = given.get(flagOf(flag));
    if (typeof value === 'boolean') table[snake(flag)] = value;
    else if (value !== undefined)
      table[snake(flag)] = valueOf(
        value.map((one) => withPath(flag, one, shown)),
        variadic === true,
      );
  }
  return table;
}

/** Pairs are a table, other repeated values a list, and a plain number is one. */
function valueOf(values: readonly string[], isRepeated: boolean): Value {
  const [first = ''] = values;
  const pairs = values.map(
    (value) => /^([^=]+)=(.*)$/s.exec(value)?.slice(1) as [string, string] | undefined,
  );
  // A name such as 2024.10 keeps its zero.
  if (!isRepeated)
    return /^\d+(?:\.\d+)?$/.test(first) && String(Number(first)) === first ? Number(first) : first;
  const table = pairs.every((pair) => pair !== undefined) ? Object.fromEntries(pairs) : {};
  return Object.keys(table).length === values.length ? table : values;
}
