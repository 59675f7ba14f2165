// Reads a settings file, `runsheet.toml` or that of the user, and refuses names that are no settings.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { parse as parseToml, TomlError } from 'smol-toml';
import { nearest, problem, errorMessage, type RunsheetError } from '../errors/error.ts';
import { meaningOf } from '../errors/file-fault.ts';

type SettingsFile = { readonly path: string; readonly table: Readonly<Record<string, unknown>> };

/** The names that a file may have, and the secrets that it must not have, as variables without their prefix. */
type Names = { readonly settings: readonly string[]; readonly secrets: readonly string[] };

/** An empty table if there is no such file. Throws E602 if it cannot be read or has another name in it. */
export function readSettingsFile(path: string, names: Names): SettingsFile {
  const text = settingsIn(path);
  if (text === undefined) return { path, table: {} };
  let table: SettingsFile['table'];
  try {
    table = parseToml(text);
  } catch (error) {
    // The further lines of the message quote the file, which may contain a password.
    const [firstLine] = errorMessage(error).split('\n');
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    throw unreadable(path, `${firstLine}${where}`, error);
  }
  for (const name of Object.keys(table))
    if (!names.settings.includes(name)) throw unknownName(path, name, names);
  return { path, table };
}

function settingsIn(path: string): string | undefined {
  try {
    // The same file is checked and read, whatever the name stands for meanwhile.
    const file = openSync(path, 'r');
    try {
      refuseForeign(fstatSync(file));
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path, meaningOf(error) ?? errorMessage(error), error);
  }
}

/** Another user's settings could send our key elsewhere. Root is allowed: a container often runs as root in a user's folder. */
function refuseForeign({ uid }: { readonly uid: number }): void {
  const ours = process.geteuid?.() ?? 0;
  if (ours !== 0 && uid !== ours && uid !== 0) throw new Error('it belongs to another user of this machine');
}

const unreadable = (path: string, why: string, cause: unknown): RunsheetError =>
  problem(
    'E602',
    { what: `${path} cannot be read: ${why}`, hint: 'correct the file or delete it' },
    { cause },
  );

function unknownName(path: string, name: string, { settings, secrets }: Names): RunsheetError {
  const what = `${path} contains ${JSON.stringify(name)}, which is not a setting`;
  const isFile = settings.includes(`${name}_file`);
  const isSecret = secrets.includes(name.toUpperCase());
  const secretHint = `secrets are not allowed in this file: ${isFile ? `use ${name}_file with the path of a file that contains it, or ` : ''}set RUNSHEET_${name.toUpperCase()}`;
  if (isSecret) return problem('E602', { what, hint: secretHint });
  const near = nearest(name, settings);
  return problem('E602', {
    what,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}names: ${settings.join(', ')}`,
  });
}
