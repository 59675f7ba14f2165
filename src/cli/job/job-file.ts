// A job is a file, `nightly.job.toml`: a sheet, the flags of `run` by their names in snake_case, and when it runs. It becomes the words of
// a command, so that each value is read as its flag is.

import { readFileSync, existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve, relative } from 'node:path';
import { parse as parseToml, TomlDate, TomlError, type TomlValue, stringify } from 'smol-toml';
import { flagOf } from '../../create-batch/given-options.ts';
import { errorMessage, list, nearest, problem, type RunsheetError } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import { isAddress } from '../../errors/redact.ts';
import { named } from '../../options/kinds.ts';
import { fromFlags, sheetFlags } from '../flags/flags.ts';
import type { Guess } from '../../sheet/guesses/guess.ts';
import { NO_SHEET } from '../flags/batch-options.ts';

export type Job = {
  readonly path: string;
  /** The file without `.job.toml`; the name of its schedule. */
  readonly name: string;
  readonly sheet: string | undefined;
  readonly flags: readonly JobFlag[];
  /** Of a pipeline; its flags are then those of each stage. */
  readonly stages: readonly JobStage[] | undefined;
  /** When it runs; undefined: when a command runs it. */
  readonly schedule: readonly JobFlag[] | undefined;
};

/** `isOff`: a switch that is false, which takes no word; a stage is without it although it stands above the stages. */
export type JobFlag = { readonly flag: string; readonly values: readonly string[]; readonly isOff?: boolean };

/** `from`: the name of another stage, a sheet, or nothing for rows of a grid alone. */
export type JobStage = {
  readonly name: string;
  readonly from: string | undefined;
  readonly pick: boolean;
  readonly partial: boolean;
  readonly flags: readonly JobFlag[];
};

type Parameter = { readonly kind: string; readonly variadic?: unknown; readonly withNegated?: boolean };

const ENDING = '.job.toml';
export const isJob = (path: string): boolean => path.endsWith(ENDING);

/** Flags about one command, not about a job. */
const OF_A_COMMAND: ReadonlySet<string> = new Set(['into', 'yes', 'quiet', 'output']);

export const JOB_FLAGS: Readonly<Record<string, Parameter>> = Object.fromEntries(
  Object.entries({ ...sheetFlags, ...fromFlags }).filter(([flag]) => !OF_A_COMMAND.has(flag)),
);

/** About a pipeline, or said by other names of a stage. */
const OF_A_PIPELINE: ReadonlySet<string> = new Set([
  'out',
  'service',
  'api',
  'local',
  'name',
  'from',
  'pick',
]);

/** What a stage may set besides where its rows come from. */
export const STAGE_FLAGS: Readonly<Record<string, Parameter>> = Object.fromEntries(
  Object.entries(JOB_FLAGS).filter(([flag]) => !OF_A_PIPELINE.has(flag)),
);

export const WHEN: Readonly<Record<string, Parameter>> = Object.fromEntries(
  ['cron', 'tz', 'overlap', 'catchup'].map((name) => [name, { kind: 'parsed' }]),
);

/** Of files that a flag names; `name=` may stand before. */
const PATHS: ReadonlySet<string> = new Set(['out', 'pick', 'workflow', 'comfyuiHeaders', 'comfyApiKeyFile']);

export const snake = (flag: string): string =>
  flag.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Throws E602 for what is no job, the fault of a file that cannot be read. */
export function readJob(path: string): Job {
  const { sheet, schedule, stage, ...rest } = tableIn(path);
  const folder = dirname(resolve(path));
  if (stage !== undefined && (sheet ?? schedule) !== undefined)
    throw wrong(
      path,
      sheet === undefined ? 'schedule' : 'sheet',
      OF_STAGES[sheet === undefined ? 'schedule' : 'sheet'],
    );
  const text = (value: TomlValue): string => textOf(path, 'sheet', value);
  return {
    path,
    name: basename(path, ENDING),
    sheet: sheet === undefined ? undefined : placed(folder, text(sheet)),
    flags: flagsOf({ path }, rest, JOB_FLAGS),
    stages: stage === undefined ? undefined : stagesOf(path, stage),
    schedule:
      schedule === undefined
        ? undefined
        : flagsOf({ path, part: ' [schedule]' }, tableOf(path, schedule), WHEN),
  };
}

const OF_STAGES = {
  sheet: 'has stages beside it: a stage names its sheet, from = "prompts.csv"',
  schedule: 'has stages beside it: a schedule makes batches of one sheet',
} as const;

function stagesOf(path: string, value: TomlValue): readonly JobStage[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isTable))
    throw wrong(path, 'stage', 'is a list of tables: [[stage]], then name = "drafts"');
  const names = value.map(({ name }) => name);
  return value.map((table, at) => stageOf(path, table, at, names));
}

function stageOf(
  path: string,
  { name, from, pick = false, partial = false, ...rest }: Readonly<Record<string, TomlValue>>,
  at: number,
  names: readonly unknown[],
): JobStage {
  if (typeof name !== 'string' || !named.isKept(name))
    throw wrong(
      path,
      `name of stage ${at + 1}`,
      'is a word of letters, digits, dots, underscores and hyphens',
    );
  const place = { path, part: ` [[stage]] ${name}` };
  if (names.indexOf(name) !== at) throw wrong(path, `stage ${name}`, 'stands twice');
  for (const [key, one] of Object.entries({ pick, partial }))
    if (typeof one !== 'boolean') throw wrong(`${path}${place.part}`, key, 'is true or false');
  const isStage = from !== undefined && names.includes(from);
  const folder = dirname(resolve(path));
  return {
    name,
    from:
      from === undefined || isStage
        ? (from as string | undefined)
        : placed(folder, textOf(`${path}${place.part}`, 'from', from)),
    pick: pick === true,
    partial: partial === true,
    flags: flagsOf(place, rest, STAGE_FLAGS, ['name', 'from', 'pick', 'partial']),
  };
}

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
  return flags.flatMap((own) => {
    const { flag, values } = own;
    if (INSTEAD[flag]?.some((other) => given.has(other))) return [];
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

/** The flag in a word, as the parser reads it, and its value: `-c=3` and `--maxCost=3` too. `next`: the word behind it. */
export function flagIn(
  word: string,
  letters: Readonly<Record<string, string>>,
  next: string | undefined,
): { readonly flag?: string; readonly value?: string | undefined; readonly isOwn?: boolean } {
  const [, name, value] = /^(-[a-z]|--[a-z][\w.-]+)(?:=(.*))?$/is.exec(word) ?? [];
  if (name === undefined) return {};
  const flag = (letters[name] ?? name).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { flag, value: value ?? next, isOwn: value !== undefined };
}

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
  '--api': ['--local', '--service'],
};

/** `part`: of the file. */
type Where = { readonly path: string; readonly part?: string };

/** `others`: names that are no flags. */
function flagsOf(
  { path, part = '' }: Where,
  table: Readonly<Record<string, TomlValue>>,
  known: Readonly<Record<string, Parameter>>,
  others: readonly string[] = [],
): readonly JobFlag[] {
  const place = `${path}${part}`;
  const folder = dirname(resolve(path));
  // Paths count from the file, so that a job means the same wherever it is run.
  const inFolder = (one: string): string => placed(folder, one);
  const names = new Map(Object.keys(known).map((flag) => [snake(flag), flag]));
  return Object.entries(table).flatMap(([name, value]) => {
    const flag = names.get(name);
    if (flag === undefined) throw noName(place, name, [...others, ...names.keys()]);
    const parameter = known[flag] as Parameter;
    if (parameter.kind === 'boolean') {
      if (typeof value !== 'boolean') throw wrong(place, name, 'is true or false');
      if (!value && parameter.withNegated) return [{ flag: negated(flagOf(flag)), values: [] }];
      return [{ flag: flagOf(flag), values: [], isOff: !value }];
    }
    const values = valuesOf(place, name, value, parameter.variadic === true);
    return [{ flag: flagOf(flag), values: values.map((one) => withPath(flag, one, inFolder)) }];
  });
}

/** `--no-unique` */
export const negated = (flag: string): string => flag.replace('--', '--no-');

/** A list or a table is repeated, or one word with commas, as the flag is. */
function valuesOf(place: string, name: string, value: TomlValue, isRepeated: boolean): readonly string[] {
  const all = Array.isArray(value)
    ? value.map((one) => textOf(place, name, one))
    : isTable(value)
      ? Object.entries(value).map(
          ([key, one]) =>
            `${key}=${Array.isArray(one) ? JSON.stringify(one.map((each) => textOf(place, name, each))) : textOf(place, name, one)}`,
        )
      : [textOf(place, name, value)];
  return isRepeated ? all : [all.join(',')];
}

const isTable = (value: TomlValue): value is Record<string, TomlValue> =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlDate);

function textOf(place: string, name: string, value: TomlValue): string {
  if (typeof value === 'object' && !(value instanceof TomlDate)) throw wrong(place, name, 'is one value');
  return value instanceof TomlDate ? value.toISOString() : String(value);
}

function tableOf(path: string, value: TomlValue): Readonly<Record<string, TomlValue>> {
  if (!isTable(value)) throw wrong(path, 'schedule', 'is a table: [schedule], then cron = "0 2 * * *"');
  return value;
}

/** The value of a flag with another path in it, if it names a file. */
export function withPath(flag: string, value: string, placedAt: (path: string) => string): string {
  if (flag === 'grid') return withFile(value, placedAt);
  if (flag === 'notify') return value.replace(/^exec:(.*)$/s, (_, path: string) => `exec:${placedAt(path)}`);
  if (!PATHS.has(flag)) return value;
  const [, name = '', path = value] = /^([^=/\\]+=)(.+)$/s.exec(value) ?? [];
  return `${name}${placedAt(path)}`;
}

/** `prompt=@prompts.txt` with another path. */
const withFile = (value: string, placedAt: (path: string) => string): string =>
  value.replace(/^([^=]+=@)(.*)$/s, (_, begin: string, path: string) => begin + placedAt(path));

const placed = (folder: string, path: string): string =>
  isAddress(path) || path === '-' ? path : join(resolve(folder, path));

function tableIn(path: string): Readonly<Record<string, TomlValue>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fileFault(error, { path }) ?? error;
  }
  try {
    return parseToml(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    const [first] = errorMessage(error).split('\n');
    const where = error instanceof TomlError ? ` in line ${error.line}, column ${error.column}` : '';
    throw problem('E602', { what: `${path} is no TOML: ${first}${where}` }, { cause: error });
  }
}

const wrong = (place: string, name: string, what: string): RunsheetError =>
  problem('E602', { what: `${name} in ${place} ${what}` });

function noName(place: string, name: string, known: readonly string[]): RunsheetError {
  const near = nearest(name, known);
  return problem('E602', {
    what: `${place} names ${name}, which is nothing that a job has`,
    hint: near === undefined ? `names: ${list(known)}` : `did you mean ${near}?`,
  });
}

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
    writeFileSync(path, stringify({ ...table, ...flagTable(given, shown) }), { flag: 'wx' });
  } catch (error) {
    throw fileFault(error, { path }) ?? error;
  }
}

/** Flags as lines of a job file, each of which can stand alone. */
export const jobLines = (words: readonly string[]): readonly string[] =>
  Object.entries(flagTable(flagsIn(words, {}), String)).map(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? `${name} = { ${stringify(value).trim().replaceAll('\n', ', ')} }`
      : stringify({ [name]: value }).trim(),
  );

function flagTable(given: ReadonlyMap<string, readonly string[]>, shown: (place: string) => string) {
  const table: Record<string, Value> = {};
  for (const [flag, { kind, variadic }] of Object.entries(JOB_FLAGS)) {
    const values = given.get(flagOf(flag))?.map((value) => withPath(flag, value, shown));
    if (values !== undefined) table[snake(flag)] = valueOf(values, kind === 'boolean', variadic === true);
  }
  return table;
}

/** The last value of a flag counts, all of one that may be repeated are kept. */
function flagsIn(words: readonly string[], letters: Readonly<Record<string, string>>) {
  const found = new Map<string, readonly string[]>();
  const kinds = new Map(Object.entries(JOB_FLAGS).map(([flag, one]) => [flagOf(flag), one]));
  const off = new Map([...kinds.keys()].map((flag) => [negated(flag), flag]));
  for (const [at, word] of words.entries()) {
    const { flag = '', value = '', isOwn } = flagIn(word, letters, words[at + 1]);
    const isOff = off.get(flag);
    if (isOff !== undefined && !kinds.has(flag)) found.set(isOff, ['false']);
    const parameter = kinds.get(flag);
    if (parameter === undefined) continue;
    const before = parameter.variadic === true ? (found.get(flag) ?? []) : [];
    if (parameter.kind === 'boolean') found.set(flag, [String(isOwn !== true || YES.test(value))]);
    else found.set(flag, [...new Set([...before, value])]);
  }
  return found;
}

/** What the parser takes for a switch that is on. */
const YES = /^(?:true|t|yes|y|on|1)$/i;

/** Pairs are a table, other repeated values a list, and a plain number is one. */
function valueOf(values: readonly string[], isSwitch: boolean, isRepeated: boolean): Value {
  const [first = ''] = values;
  if (isSwitch) return first !== 'false';
  const pairs = values.map(
    (value) => /^([^=]+)=(.*)$/s.exec(value)?.slice(1) as [string, string] | undefined,
  );
  // A name such as 2024.10 keeps its zero.
  if (!isRepeated)
    return /^\d+(?:\.\d+)?$/.test(first) && String(Number(first)) === first ? Number(first) : first;
  const table = pairs.every((pair) => pair !== undefined) ? Object.fromEntries(pairs) : {};
  return Object.keys(table).length === values.length ? table : values;
}
