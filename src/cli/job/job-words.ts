// Merges a job file into the words of a command. The command's own words win.

import { flagOf } from '../../options/written-options.ts';
import { fromFlags, sheetFlags } from '../flags/flags.ts';
import { isJob, readJob, type Parameter, type WrittenFlags } from './job-file.ts';

/**
 * Replaces the job file in a command by its sheet and flags; the command's flags win. `letters`: short
 * flags such as `-c` with their long names.
 */
export function withJob(
  words: readonly string[],
  letters: Readonly<Record<string, string>>,
): readonly string[] {
  const at = jobAt(words);
  const path = words[at];
  if (path === undefined) return words;
  const { sheet, flags, stages } = readJob(path);
  // A pipeline cannot become one command.
  if (stages !== undefined) return words;
  const own = wordsOf(flagsBeside(flagsIn(words, letters), flags));
  return [...words.slice(0, at), ...(sheet === undefined ? [] : [sheet]), ...own, ...words.slice(at + 1)];
}

/** The index of the job file among the words, or -1. */
export const jobAt = (words: readonly string[]): number =>
  words.findIndex((word, at) => isJob(word) && !word.startsWith('-') && words[at - 1] !== '--write');

const PARAMETERS: ReadonlyMap<string, Parameter> = new Map(
  Object.entries({ ...sheetFlags, ...fromFlags }).map(([flag, parameter]) => [flagOf(flag), parameter]),
);

/** Values that the parser accepts for a switch that is on. */
const YES = /^(?:true|t|yes|y|on|1)$/i;

/** `--no-unique` */
const negated = (flag: string): string => flag.replace('--', '--no-');
const NEGATED: ReadonlyMap<string, string> = new Map(
  [...PARAMETERS].flatMap(([flag, { withNegated }]) => (withNegated ? [[negated(flag), flag]] : [])),
);

/**
 * Reads flags as the parser does, including `-c=3` and `--maxCost=3`. The last value counts; a repeatable
 * flag keeps all of them.
 */
export function flagsIn(words: readonly string[], letters: Readonly<Record<string, string>>): WrittenFlags {
  const flags = new Map<string, boolean | readonly string[]>();
  const repeated = new Map<string, Set<string>>();
  for (const [at, word] of words.entries()) {
    const [, name, value] = /^(-[a-z]|--[a-z][\w.-]+)(?:=(.*))?$/is.exec(word) ?? [];
    if (name === undefined) continue;
    const flag = (letters[name] ?? name).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const { kind, variadic } = PARAMETERS.get(flag) ?? {};
    const off = NEGATED.get(flag);
    if (off !== undefined) flags.set(off, false);
    else if (kind === 'boolean') flags.set(flag, value === undefined || YES.test(value));
    else if (variadic !== true) flags.set(flag, [value ?? words[at + 1] ?? '']);
    else {
      const values = repeated.get(flag) ?? new Set<string>();
      repeated.set(flag, values.add(value ?? words[at + 1] ?? ''));
      // Reserves the position of the first value.
      flags.set(flag, []);
    }
  }
  for (const [flag, values] of repeated) flags.set(flag, [...values]);
  return flags;
}

const valuesIn = (flags: WrittenFlags, flag: string): readonly string[] => {
  const values = flags.get(flag);
  return typeof values === 'object' ? values : [];
};

/** A switch that is off needs no word unless it is on by default. */
export const wordsOf = (flags: WrittenFlags): readonly string[] =>
  [...flags].flatMap(([flag, value]) => {
    if (typeof value === 'object') return value.flatMap((text) => [flag, text]);
    if (value) return [flag];
    return NEGATED.has(negated(flag)) ? [negated(flag)] : [];
  });

/** The part of `fallback` that `winning` leaves. A flag replaces the same flag; an input only replaces the same input. */
export const flagsBeside = (winning: WrittenFlags, fallback: WrittenFlags): WrittenFlags =>
  new Map(
    [...fallback].flatMap(([flag, value]) => {
      if (INSTEAD[flag]?.some((rival) => winning.has(rival) && winning.get(rival) !== false)) return [];
      if (!winning.has(flag)) return [[flag, value] as const];
      if (!OF_INPUTS.has(flag)) return [];
      const inputs = new Set(valuesIn(winning, flag).map(inputIn));
      const left = valuesIn(fallback, flag).filter(
        (text) => text.includes('=') && !inputs.has(inputIn(text)),
      );
      return left.length === 0 ? [] : [[flag, left] as const];
    }),
  );

/** `winning`, followed by the part of `fallback` that it leaves. */
export const flagsOver = (winning: WrittenFlags, fallback: WrittenFlags): WrittenFlags =>
  new Map([...flagsBeside(winning, fallback), ...winning]);

export const withoutFlags = (flags: WrittenFlags, ...names: readonly string[]): WrittenFlags =>
  new Map([...flags].filter(([flag]) => !names.includes(flag)));

/** Flags with one value per input. Values of other flags are whole, even if they contain `=`. */
const OF_INPUTS: ReadonlySet<string> = new Set(['--set', '--map', '--type', '--grid']);
const inputIn = (value: string): string | undefined => value.split('=')[0];

/** Command flags that replace a different flag of the job. */
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
