// The words of a command with a job file in it: those of the file take their place beside those of the command, which win.

import { flagOf } from '../../create-batch/given-options.ts';
import { isJob, JOB_FLAGS, readJob, type JobFlag } from './job-file.ts';

/**
 * The words of a command in which a job stands, with its sheet and flags in its place; flags of the command win. `letters`: `-c` and the
 * like with their flags.
 */
export function withJob(
  words: readonly string[],
  letters: Readonly<Record<string, string>>,
): readonly string[] {
  const at = words.findIndex(
    (word, index) => isJob(word) && !word.startsWith('-') && words[index - 1] !== '--write',
  );
  const path = words[at];
  if (path === undefined) return words;
  const { sheet, flags, stages } = readJob(path);
  // A pipeline is more than one command.
  if (stages !== undefined) return words;
  const own = flagsBeside(words, letters, flags).flatMap(wordsOf);
  return [...words.slice(0, at), ...(sheet === undefined ? [] : [sheet]), ...own, ...words.slice(at + 1)];
}

/** What the words leave of these flags: they take the place of the same flag, of inputs only for the same input. */
export function flagsBeside(
  words: readonly string[],
  letters: Readonly<Record<string, string>>,
  flags: readonly JobFlag[],
): readonly JobFlag[] {
  const flagged = words.map((word, index) => flagIn(word, letters, words[index + 1]));
  const given = new Set(flagged.map(({ flag }) => flag?.replace(/^--no-/, '--')));
  const on = new Set(flagged.map(({ flag, isOff }) => (isOff === true ? undefined : flag)));
  return flags.flatMap((own) => {
    const { flag, values } = own;
    if (INSTEAD[flag]?.some((other) => on.has(other))) return [];
    if (!given.has(flag.replace(/^--no-/, '--'))) return [own];
    if (!OF_INPUTS.has(flag)) return [];
    // Of inputs, those that the words do not give.
    const left = values.filter((value) => {
      const [input] = /^[^=]+=/.exec(value) ?? [];
      return input !== undefined && !flagged.some((one) => one.flag === flag && one.value?.startsWith(input));
    });
    return left.length === 0 ? [] : [{ flag, values: left }];
  });
}

/** The flag in a word, as the parser reads it, and its value: `-c=3` and `--maxCost=3` too. `next`: the word behind it; `isOff`: of a switch. */
export function flagIn(
  word: string,
  letters: Readonly<Record<string, string>>,
  next: string | undefined,
): { readonly flag?: string; readonly value?: string | undefined; readonly isOff?: boolean } {
  const [, name, value] = /^(-[a-z]|--[a-z][\w.-]+)(?:=(.*))?$/is.exec(word) ?? [];
  if (name === undefined) return {};
  const flag = (letters[name] ?? name).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    flag,
    value: value ?? next,
    isOff: value !== undefined && SWITCHES.has(flag) && !YES.test(value),
  };
}

const SWITCHES: ReadonlySet<string> = new Set(
  Object.entries(JOB_FLAGS).flatMap(([flag, { kind }]) => (kind === 'boolean' ? [flagOf(flag)] : [])),
);
/** What the parser takes for a switch that is on. */
const YES = /^(?:true|t|yes|y|on|1)$/i;

export const wordsOf = ({ flag, values, isOff = false }: JobFlag): readonly string[] =>
  values.length === 0 ? (isOff ? [] : [flag]) : values.flatMap((value) => [flag, value]);

/** One value an input; others are whole, also if they contain a `=`. */
const OF_INPUTS: ReadonlySet<string> = new Set(['--set', '--map', '--type', '--grid']);

/** Other flags of the command that take the place of one of the job. */
const INSTEAD: Readonly<Record<string, readonly string[]>> = {
  '--reuse': ['--again'],
  '--again': ['--reuse'],
  '--ladder': ['--gpu'],
  '--gpu': ['--ladder'],
  '--workflow': ['--deployment'],
  '--deployment': ['--workflow'],
  '--service': ['--local', '--api'],
  '--local': ['--service'],
  '--api': ['--local', '--service'],
};
