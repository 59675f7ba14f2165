// The settings files: `runsheet.toml` in the current folder, which may come from a stranger, and the user's own file. The choices
// in a folder's file count once the user has trusted its present content.
//
//   runsheet.toml ──says nothing but HARMLESS──▶ counts
//                 ──else──▶ E615 ──runsheet trust──▶ counts until what it says changes

import { dirname, join, resolve } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { errorMessage, hintAmong, nearest, problem, type RunsheetError } from '../../errors/error.ts';
import { meaningOf } from '../../errors/file-fault.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { OPTIONS } from '../../options/table.ts';
import { flagOf } from '../../options/written-options.ts';
import { isBelow } from '../below.ts';
import { readPlainFile } from '../plain-file.ts';
import { isTrusted, type TrustSubject } from './trust-notes.ts';
import { configFolder, notesFolder, type Environment } from '../user-folders.ts';

type Table = Readonly<Record<string, unknown>>;

/** `folder` is the file of the current folder, which is weaker than `user`. */
type SettingsSource = 'user' | 'folder';
export type SettingsFile = { readonly path: string; readonly source: SettingsSource; readonly table: Table };

/** `secrets`: names that would be settings, but are never allowed in a file. */
export type KnownNames = {
  readonly names: readonly string[];
  readonly isSecret: (name: string) => boolean;
  readonly variableOf: (name: string) => string;
};

/** Settings of a folder's file that choose neither a place nor a receiver. */
const HARMLESS: ReadonlySet<string> = new Set(['drain_seconds', 'local_speed', 'log_level']);
/** Settings that a trusted file of a folder may have. All others concern this machine and belong to its user. */
const TRUSTED: ReadonlySet<string> = new Set([
  'api',
  'api_key_file',
  'api_url',
  'out',
  'service',
  'task_queue',
]);

const FOLDERS_FILE = 'runsheet.toml';

/** Strongest first. Throws E602. */
export function settingsFiles(environment: Environment, knownNames: KnownNames): readonly SettingsFile[] {
  const users = configFolder(environment);
  const own =
    users === undefined ? [] : [readTable(join(users, 'runsheet', 'config.toml'), 'user', knownNames)];
  return [foldersTable(FOLDERS_FILE, knownNames), ...own];
}

/** Called after the values were checked, so that a file that the user is asked to trust is usable. Throws E615. */
export function refuseUntrusted(files: readonly SettingsFile[], environment: Environment): void {
  for (const subject of files.flatMap((file) => toTrust(file) ?? []))
    if (!isTrusted(notesFolder(environment), subject))
      throw problem('E615', { path: subject.path, says: linesOf(subject) });
}

/** The choices of a folder's file; undefined if there is nothing to trust. Throws E602. */
export const foldersChoices = (path: string, knownNames: KnownNames): TrustSubject | undefined =>
  toTrust(foldersTable(path, knownNames));

/** Formats one line per setting. Passwords that were put into an address by mistake are hidden. */
export const linesOf = ({ content }: TrustSubject): readonly string[] =>
  Object.entries(content as Table).map(([name, value]) =>
    terminalLine(`${name} = ${JSON.stringify(value).replaceAll(/\/\/[^/"]*@/g, '//[secret]@')}`),
  );

const foldersTable = (path: string, knownNames: KnownNames): SettingsFile =>
  checkedPair(readTable(resolve(path), 'folder', knownNames));

function toTrust({ path, source, table }: SettingsFile): TrustSubject | undefined {
  if (source === 'user') return undefined;
  const content = Object.fromEntries(Object.entries(table).filter(([name]) => !HARMLESS.has(name)));
  return Object.keys(content).length === 0 ? undefined : { path, content };
}

/** An empty table if the file does not exist. */
function readTable(path: string, source: SettingsSource, knownNames: KnownNames): SettingsFile {
  const text = settingsIn(path);
  const table = text === undefined ? {} : parsed(path, text);
  for (const name of Object.keys(table)) {
    if (name !== 'service' && !knownNames.names.includes(name))
      throw unknownName(path, name, namesOf(source, knownNames), knownNames);
    if (source === 'folder' && !HARMLESS.has(name) && !TRUSTED.has(name))
      throw problem('E602', {
        what: `${path} has ${name}, which is a setting of this machine and not of a folder`,
        hint: `remove the line; to mean it, set ${knownNames.variableOf(name)}, or write it into your own file, ~/.config/runsheet/config.toml`,
      });
  }
  return { path, source, table };
}

function parsed(path: string, text: string): Table {
  try {
    return parseToml(text);
  } catch (error) {
    // Further lines of the message quote the file, which may contain a password.
    const [firstLine] = errorMessage(error).split('\n');
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    throw unreadable(path, `${firstLine}${where}`, error);
  }
}

/** undefined if the file does not exist. */
function settingsIn(path: string): string | undefined {
  try {
    const { text, stats } = readPlainFile(path);
    refuseForeign(stats);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path, meaningOf(error) ?? errorMessage(error), error);
  }
}

/** Refuses settings of other users, which could send our key elsewhere. Root's are allowed, because a container often runs as root in a user's folder. */
function refuseForeign({ uid }: { readonly uid: number }): void {
  const userId = process.geteuid?.() ?? 0;
  if (userId !== 0 && uid !== userId && uid !== 0)
    throw new Error('it belongs to another user of this machine');
}

/** An address without a key would get the user's key, and a key without an address would pay for the user's rows. */
function checkedPair(file: SettingsFile): SettingsFile {
  const { path, table } = file;
  const { api_url: url, api_key_file: key } = table;
  if ((url === undefined) !== (key === undefined))
    throw problem('E602', {
      what: `${path} has ${url === undefined ? 'api_key_file without api_url' : 'api_url without api_key_file'}`,
      hint: 'a key goes only to an address that its owner chose: the file of a folder has both or neither; to use your own key, set RUNSHEET_API_URL and RUNSHEET_API_KEY',
    });
  const services = typeof table['service'] === 'object' ? Object.values(table['service'] ?? {}) : [];
  for (const keyFile of [key, ...services.map((service) => (service as Table | null)?.['api_key_file'])])
    if (typeof keyFile === 'string' && !isBelow(resolve(dirname(path), keyFile), dirname(path)))
      throw problem('E602', {
        what: `${path} names a key outside of its folder: ${keyFile}`,
        hint: 'the key of a folder lies in it; name yours in your own file, ~/.config/runsheet/config.toml',
      });
  return file;
}

const unreadable = (path: string, why: string, cause: unknown): RunsheetError =>
  problem(
    'E602',
    { what: `${path} cannot be read: ${why}`, hint: 'correct the file or delete it' },
    { cause },
  );

/** The names that a settings file may have. */
const namesOf = (source: SettingsSource, { names }: KnownNames): readonly string[] => [
  ...names.filter((name) => source === 'user' || HARMLESS.has(name) || TRUSTED.has(name)),
  'service',
];

/** Batch options by their names in a job file, with their flags. */
const OPTION_FLAGS: ReadonlyMap<string, string> = new Map(
  Object.keys(OPTIONS).map((option) => {
    const flag = flagOf(option);
    return [flag.slice(2).replaceAll('-', '_'), flag];
  }),
);

function unknownName(
  path: string,
  name: string,
  allowed: readonly string[],
  { names, isSecret, variableOf }: KnownNames,
): RunsheetError {
  const what = `${path} contains ${JSON.stringify(name)}, which is not a setting`;
  const option = isSecret(name) ? undefined : nearest(name, [...allowed, ...OPTION_FLAGS.keys()]);
  const flag = option !== undefined && !allowed.includes(option) ? OPTION_FLAGS.get(option) : undefined;
  if (flag !== undefined) {
    const meant = option === name ? '' : `did you mean ${option}? `;
    const hint = `${meant}it is an option of a batch: give it with the command, as ${flag}, or in a job file, such as nightly.job.toml`;
    return problem('E602', { what, hint });
  }
  if (!isSecret(name)) return problem('E602', { what, hint: hintAmong(name, 'names', allowed) });
  const file = names.includes(`${name}_file`)
    ? `use ${name}_file with the path of a file that contains it, or `
    : '';
  return problem('E602', {
    what,
    hint: `secrets are not allowed in this file: ${file}set ${variableOf(name)}`,
  });
}
