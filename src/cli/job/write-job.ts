// Writes the flags of a command as a job file.

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { stringify } from 'smol-toml';
import { flagOf, flagsOf } from '../../options/written-options.ts';
import { problem } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import { isAddress } from '../../errors/redact.ts';
import { choosesRows, type Guess } from '../../sheet/guesses/guess.ts';
import { NO_SHEET } from '../flags/batch-options.ts';
import { isJob, JOB_FLAGS, snake, withPath, type WrittenFlags } from './job-file.ts';
import { flagsIn } from './job-words.ts';

type JobValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** Throws E602 for a name that is not a job's, or for an existing file. */
export function refuseJobFile(path: string): void {
  if (!isJob(path))
    throw problem('E602', {
      what: `--write ${path} is no name of a job`,
      hint: 'for example --write nightly.job.toml',
    });
  if (existsSync(path))
    throw problem('E602', { what: `${path} exists`, hint: 'choose another name, or remove the file' });
}

/** Writes paths relative to the folder of the file. Throws the fault of a file that cannot be written. */
export function writeJob(
  path: string,
  words: readonly string[],
  sheet: string,
  guesses: readonly Guess[],
  letters: Readonly<Record<string, string>>,
): void {
  const folder = dirname(resolve(path));
  const answers = guesses.filter((guess) => guess.options.hidden !== 'include' && !choosesRows(guess));
  const jobFlags = flagsIn([...answers.flatMap(({ options }) => flagsOf(options).flat()), ...words], letters);
  const shown = (place: string): string => (isAddress(place) ? place : relative(folder, resolve(place)));
  const table: Record<string, JobValue> = sheet === '-' || sheet === NO_SHEET ? {} : { sheet: shown(sheet) };
  try {
    const lines = linesOf({ ...table, ...flagTable(jobFlags, shown) });
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { flag: 'wx' });
  } catch (error) {
    throw fileFault(error, { path }) ?? error;
  }
}

/** Flags as lines of a job file. */
export const jobLines = (words: readonly string[]): readonly string[] =>
  linesOf(flagTable(flagsIn(words, {}), String));

/** Serializes each key alone, so that lines appended by the user do not fall into the last table. */
const linesOf = (table: Readonly<Record<string, JobValue>>): readonly string[] =>
  Object.entries(table).map(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? `${name} = { ${stringify(value).trim().replaceAll('\n', ', ')} }`
      : stringify({ [name]: value }).trim(),
  );

function flagTable(flags: WrittenFlags, shown: (place: string) => string) {
  const table: Record<string, JobValue> = {};
  for (const [flag, { variadic }] of Object.entries(JOB_FLAGS)) {
    const value = flags.get(flagOf(flag));
    if (typeof value === 'boolean') table[snake(flag)] = value;
    else if (value !== undefined)
      table[snake(flag)] = valueOf(
        value.map((text) => withPath(flag, text, shown)),
        variadic === true,
      );
  }
  return table;
}

/** Turns pairs into a table, other repeated values into a list, and a plain number into a number. */
function valueOf(values: readonly string[], isRepeated: boolean): JobValue {
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
