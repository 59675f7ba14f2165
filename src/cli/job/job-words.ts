// The words of a command with a job file in it: those of the file take their place beside those of the command, which win.

import { flagOf } from '../../options/written-options.ts';
import { fromFlags, sheetFlags } from '../flags/flags.ts';
import { isJob, readJob, type Parameter, type WrittenFlags } from './job-file.ts';

/**
 * The words of a command in which a job stands, with its sheet and flags in its place; flags of the command win. `letters`: `-c` and the
 * like with their flags.
 */
export function withJob(
  words: readonly string[],
  letters: Readonly<Record<string, string>>,
): readonly string[] {
  const at = jobAt(words);
  const path = words[at];
  if (path === undefined) return words;
  const { sheet, flags, stages } = readJob(path);
  // A pipeline is more than one command.
  if (stages !== undefined) return words;
  const own = wordsOf(flagsBeside(flagsIn(words, letters), flags));
  return [...words.slice(0, at), ...(sheet === undefined ? [] : [sheet]), ...own, ...words.slice(at + 1)];
}

/** -1 if none stands there. */
export const jobAt = (words: readonly string[]): number =>
  words.findIndex((word, at) => isJob(word) && !word.startsWith('-') && words[at - 1] !== '--write');

const PARAMETERS: ReadonlyMap<string, Parameter> = new Map(
  Object.entries({ ...sheetFlags, ...fromFlags }).map(([flag, one]) => [flagOf(flag), one]),
);

/** What the parser takes for a switch that is on. */
const YES = /^(?:true|t|yes|y|on|1)$/i;

/** `--no-unique` */
const negated = (flag: string): string => flag.replace('--', '--no-');
const NEGATED: ReadonlyMap<string, string> = new Map(
  [...PARAMETERS].flatMap(([flag, { withNegated }]) => (withNegated ? [[negated(flag), flag]] : [])),
);

/** The flags in words, as the parser reads them: `-c=3` and `--maxCost=3` too. The last value counts, or all of a flag that is repeated. */
export function flagsIn(words: readonly string[], letters: Readonly<Record<string, string>>): WrittenFlags {
  const found = new Map<string, boolean | readonly string[]>();
  const repeated = new Map<string, Set<string>>();
  for (const [at, word] of words.entries()) {
    const [, name, value] = /^(-[a-z]|--[a-z][\w.-]+)(?:=(.*))?$/is.exec(word) ?? [];
    if (name === undefined) continue;
    const flag = (letters[name] ?? name).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const { kind, variadic } = PARAMETERS.get(flag) ?? {};
    const off = NEGATED.get(flag);
    if (off !== undefined) found.set(off, false);
    else if (kind === 'boolean') found.set(flag, value === undefined || YES.test(value));
    else if (variadic !== true) found.set(flag, [value ?? words[at + 1] ?? '']);
    else {
      const values = repeated.get(flag) ?? new Set<string>();
      repeated.set(flag, values.add(value ?? words[at + 1] ?? ''));
      // Its place among the flags is that of its first value.
      found.set(flag, []);
    }
  }
  for (const [flag, values] of repeated) found.set(flag, [...values]);
  return found;
}

const valuesIn = (flags: WrittenFlags, flag: string): readonly string[] => {
  const values = flags.get(flag);
  return typeof values === 'object' ? values : [];
};

/** A switch that is off takes no word, unless it is on otherwise. */
export const wordsOf = (flags: WrittenFlags): readonly string[] =>
  [...flags].flatMap(([flag, value]) => {
    if (typeof value === 'object') return value.flatMap((one) => [flag, one]);
    if (value) return [flag];
    return NEGATED.has(negated(flag)) ? [negated(flag)] : [];
  });

/** What given flags leave of others: they take the place of the same flag, of inputs only for the same input. */
export const flagsBeside = (given: WrittenFlags, others: WrittenFlags): WrittenFlags =>
  new Map(
    [...others].flatMap(([flag, value]) => {
      if (INSTEAD[flag]?.some((one) => given.has(one) && given.get(one) !== false)) return [];
      if (!given.has(flag)) return [[flag, value] as const];
      if (!OF_INPUTS.has(flag)) return [];
      const inputs = new Set(valuesIn(given, flag).map(inputIn));
      const left = valuesIn(others, flag).filter((one) => one.includes('=') && !inputs.has(inputIn(one)));
      return left.length === 0 ? [] : [[flag, left] as const];
    }),
  );

/** Given flags, and what they leave of others. */
export const flagsOver = (given: WrittenFlags, others: WrittenFlags): WrittenFlags =>
  new Map([...flagsBeside(given, others), ...given]);

export const withoutFlags = (flags: WrittenFlags, ...names: readonly string[]): WrittenFlags =>
  new Map([...flags].filter(([flag]) => !names.includes(flag)));

/** One value an input; others are whole, also if they contain a `=`. */
const OF_INPUTS: ReadonlySet<string> = new Set(['--set', '--map', '--type', '--grid']);
const inputIn = (value: string): string | undefined => value.split('=')[0];

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
