// Where a sheet comes from, and what is said when it is not there.

import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { nearest, problem, type RunsheetError } from '../errors.ts';

export type SheetSource = {
  /** As it is shown in messages. */
  readonly name: string;
  /** A fresh stream of the sheet's bytes; it is read more than once. */
  readonly open: () => Readable;
};

const EXTENSIONS: ReadonlySet<string> = new Set(['.csv', '.tsv', '.jsonl', '.ndjson', '.json']);
const MOST_NAMES = 5;

/** E101 for `path`, with the names in its folder that may have been meant. */
export async function sheetNotFound(path: string): Promise<RunsheetError> {
  const full = resolve(path);
  const names = await namesIn(dirname(full));
  const slip = nearest(basename(full), names);
  const sheets = names.filter((name) => EXTENSIONS.has(extname(name).toLowerCase()));
  const near = [...new Set([...(slip === undefined ? [] : [slip]), ...sheets])].slice(0, MOST_NAMES);
  return problem('E101', { path: full, near });
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(noneWhereAbsent);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

function noneWhereAbsent(error: unknown): [] {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return [];
  throw error;
}
