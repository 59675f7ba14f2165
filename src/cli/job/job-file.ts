// A job is a file, such as `nightly.job.toml`: a sheet, the flags of `run` by their names in snake_case,
// and a schedule. It becomes the words of a command, so that each value is parsed as its flag.

import { basename, dirname, join, resolve } from 'node:path';
import { parse as parseToml, TomlDate, TomlError, type TomlValue } from 'smol-toml';
import { flagOf } from '../../options/written-options.ts';
import { errorMessage, hintAmong, problem, type RunsheetError } from '../../errors/error.ts';
import { fileFault, meaningOf } from '../../errors/file-fault.ts';
import { readPlainFile } from '../../host/plain-file.ts';
import { isAddress } from '../../errors/redact.ts';
import { named } from '../../options/kinds.ts';
import { count } from '../../options/text/printed-numbers.ts';
import { fromFlags, sheetFlags } from '../flags/flags.ts';

export type SheetJob = {
  readonly path: string;
  /** The file name without `.job.toml`; also the name of its schedule. */
  readonly name: string;
  readonly sheet: string | undefined;
  readonly flags: WrittenFlags;
  /** The stages of a pipeline. The flags of the job then apply to each stage. */
  readonly stages: readonly JobStage[] | undefined;
  /** The flags of the schedule; undefined if a command runs the job. */
  readonly schedule: WrittenFlags | undefined;
};

/** Each flag with its raw values, or whether a switch is on. */
export type WrittenFlags = ReadonlyMap<string, readonly string[] | boolean>;

/** `from`: another stage, a sheet, or undefined for the rows of a grid alone. */
export type JobStage = {
  readonly name: string;
  readonly from: string | undefined;
  readonly pick: boolean;
  readonly partial: boolean;
  readonly flags: WrittenFlags;
};

export type Parameter = {
  readonly kind: string;
  readonly variadic?: unknown;
  readonly withNegated?: boolean;
};

const ENDING = '.job.toml';
export const isJob = (path: string): boolean => path.endsWith(ENDING);

/** Flags of one invocation, which a job cannot have. A program is named by its user only: a job may come from a stranger. */
const OF_A_COMMAND: ReadonlySet<string> = new Set([
  'acceptFiles',
  'into',
  'yes',
  'quiet',
  'output',
  'program',
  'stays',
  'gpus',
]);

export const JOB_FLAGS: Readonly<Record<string, Parameter>> = Object.fromEntries(
  Object.entries({ ...sheetFlags, ...fromFlags }).filter(([flag]) => !OF_A_COMMAND.has(flag)),
);

/** Flags of a whole pipeline, or with another name in a stage. */
const OF_A_PIPELINE: ReadonlySet<string> = new Set([
  'out',
  'service',
  'api',
  'local',
  'name',
  'from',
  'pick',
]);

/** Flags that a stage may set besides `from`, `pick` and `partial`. */
export const STAGE_FLAGS: Readonly<Record<string, Parameter>> = Object.fromEntries(
  Object.entries(JOB_FLAGS).filter(([flag]) => !OF_A_PIPELINE.has(flag)),
);

export const WHEN: Readonly<Record<string, Parameter>> = Object.fromEntries(
  ['cron', 'tz', 'overlap', 'catchup'].map((name) => [name, { kind: 'parsed' }]),
);

/** Flags whose value is a path, with an optional `name=` before it. */
const PATHS: ReadonlySet<string> = new Set([
  'out',
  'pick',
  'workflow',
  'comfyuiHeaders',
  'comfyApiKeyFile',
  'keyFile',
]);

export const snake = (flag: string): string =>
  flag.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Throws E602 for an invalid job, and the fault of an unreadable file. */
export function readJob(path: string): SheetJob {
  const { sheet, schedule, stage, ...flags } = tableIn(path);
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
    flags: flagsOf({ path }, flags, JOB_FLAGS, ['sheet', 'schedule', 'stage']),
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
  { name, from, pick = false, partial = false, ...flags }: Readonly<Record<string, TomlValue>>,
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
  for (const [key, setting] of Object.entries({ pick, partial }))
    if (typeof setting !== 'boolean') throw wrong(`${path}${place.part}`, key, 'is true or false');
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
    flags: flagsOf(place, flags, STAGE_FLAGS, ['name', 'from', 'pick', 'partial']),
  };
}

/** `part`: the table in the file, for error texts. */
type JobPlace = { readonly path: string; readonly part?: string };

/** `otherNames`: valid names that are not flags. */
function flagsOf(
  { path, part = '' }: JobPlace,
  table: Readonly<Record<string, TomlValue>>,
  parameters: Readonly<Record<string, Parameter>>,
  otherNames: readonly string[] = [],
): WrittenFlags {
  const place = `${path}${part}`;
  const folder = dirname(resolve(path));
  // Paths are relative to the job file, so that a job means the same from any folder.
  const inFolder = (file: string): string => placed(folder, file);
  const names = new Map(Object.keys(parameters).map((flag) => [snake(flag), flag]));
  const read = (name: string, value: TomlValue): readonly [string, readonly string[] | boolean] => {
    const flag = names.get(name);
    if (flag === undefined) throw noName(place, name, [...otherNames, ...names.keys()]);
    const { kind, variadic } = parameters[flag] as Parameter;
    if (kind === 'boolean' && typeof value !== 'boolean') throw wrong(place, name, 'is true or false');
    if (kind === 'boolean') return [flagOf(flag), value === true];
    const values = valuesOf(place, name, value, variadic === true);
    return [flagOf(flag), values.map((text) => withPath(flag, text, inFolder))];
  };
  const flags = new Map(Object.entries(table).map(([name, value]) => read(name, value)));
  const values = [...flags.values()].reduce<number>(
    (sum, texts) => sum + (typeof texts === 'object' ? texts.length : 1),
    0,
  );
  if (values <= MAX_VALUES) return flags;
  throw problem('E602', {
    what: `${place} has ${count(values)} values, and a job has at most ${count(MAX_VALUES)}`,
  });
}

/** Parsing takes quadratic time in the number of values. */
const MAX_VALUES = 5_000;

/** A list or a table repeats the flag, or becomes one word with commas, depending on the flag. */
function valuesOf(place: string, name: string, value: TomlValue, isRepeated: boolean): readonly string[] {
  const texts = Array.isArray(value)
    ? value.map((element) => textOf(place, name, element))
    : isTable(value)
      ? Object.entries(value).map(
          ([key, member]) =>
            `${key}=${Array.isArray(member) ? JSON.stringify(member.map((each) => textOf(place, name, each))) : textOf(place, name, member)}`,
        )
      : [textOf(place, name, value)];
  return isRepeated ? texts : [texts.join(',')];
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

/** Replaces the path in a flag's value, if the flag names a file. */
export function withPath(flag: string, value: string, placedAt: (path: string) => string): string {
  if (flag === 'grid') return withFile(value, placedAt);
  if (flag === 'notify') return value.replace(/^exec:(.*)$/s, (_, path: string) => `exec:${placedAt(path)}`);
  if (!PATHS.has(flag)) return value;
  const [, name = '', path = value] = /^([^=/\\]+=)(.+)$/s.exec(value) ?? [];
  return `${name}${placedAt(path)}`;
}

/** Replaces the path in `prompt=@prompts.txt`. */
const withFile = (value: string, placedAt: (path: string) => string): string =>
  value.replace(/^([^=]+=@)(.*)$/s, (_, begin: string, path: string) => begin + placedAt(path));

const placed = (folder: string, path: string): string =>
  isAddress(path) || path === '-' ? path : join(resolve(folder, path));

function tableIn(path: string): Readonly<Record<string, TomlValue>> {
  let text: string;
  try {
    ({ text } = readPlainFile(path));
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isAbsent) throw fileFault(error, { path }) ?? error;
    const why = meaningOf(error) ?? errorMessage(error);
    throw problem('E602', { what: `${path} cannot be read: ${why}` }, { cause: error });
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

function noName(place: string, name: string, knownNames: readonly string[]): RunsheetError {
  const ofCommand = [...OF_A_COMMAND].find((flag) => snake(flag) === name);
  const what = `${place} names ${name}, which is nothing that a job has`;
  if (ofCommand === undefined) return problem('E602', { what, hint: hintAmong(name, 'names', knownNames) });
  return problem('E602', { what, hint: `remove it, and say it with the command: ${flagOf(ofCommand)}` });
}
