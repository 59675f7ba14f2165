// Opens a sheet, and reports why it is missing or unreadable.

import type { Stats } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import {
  correctionOf,
  list,
  nearest,
  problem,
  errorMessage,
  RunsheetError,
  type Correction,
} from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import type { Store } from '../store/store.ts';
import type { KeptIn } from '../options/table.ts';
import type { RowRange } from '../options/batch-kinds.ts';
import { isSheetName, type SheetFormat } from './formats.ts';

export type SheetSource = {
  readonly name: string;
  /** A fresh stream of the sheet's bytes; it is read more than once. */
  readonly open: () => Readable;
};

/** The name of rows from a program, which need no guesses. */
export const GIVEN_ROWS = 'rows';

export const sourceIn = (
  store: Store,
  { name, file }: { readonly name: string; readonly file: string },
): SheetSource => ({ name, open: () => store.open(file) });

const MAX_NAMES = 5;

/** Checks the sheet before anything is started. Throws E101 if it is missing, E106 if it cannot be a sheet. */
export async function refuseNoSheet(path: string): Promise<void> {
  try {
    refuseKind(path, await stat(path));
    await access(path, constants.R_OK);
  } catch (error) {
    throw await sheetFault(path, error);
  }
}

/** Throws E106 for sockets and devices, which have no content with an end; a pipe is allowed. */
function refuseKind(path: string, stats: Stats): void {
  if (stats.isSocket()) throw unreadable(path, 'it is a socket');
  if (stats.isBlockDevice() || stats.isCharacterDevice()) throw unreadable(path, 'it is a device');
  // The message for a folder lists the sheets in it.
  if (stats.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
}

/** E101 or E106 for an error of opening or reading the sheet at `path`. */
export async function sheetFault(path: string, error: unknown): Promise<RunsheetError> {
  if (error instanceof RunsheetError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return sheetNotFound(path);
  if (code === 'EISDIR') {
    const sheets = (await namesIn(path)).filter(isSheetName).map((name) => join(path, name));
    return unreadable(
      path,
      'it is a folder',
      sheets.length > 0 ? `sheets in it: ${list(sheets)}` : undefined,
      correctionOf(path, sheets.length === 1 ? sheets[0] : undefined),
    );
  }
  if (code === 'EACCES' || code === 'EPERM')
    return unreadable(
      path,
      'this user may not read it',
      `to let its owner read it: chmod u+r ${shellWord(path)}`,
    );
  return unreadable(path, errorMessage(error));
}

const unreadable = (
  path: string,
  why: string,
  hint = 'pass a file name, or - to read the sheet from stdin',
  correction?: Correction,
): RunsheetError =>
  problem('E106', { path: path === '-' ? 'stdin' : resolve(path), why, hint }, { correction });

/** E101 for `path`, with similar names in its folder. */
export async function sheetNotFound(path: string): Promise<RunsheetError> {
  const full = resolve(path);
  const names = await namesIn(dirname(full));
  const slip = nearest(basename(full), names);
  const sheets = names.filter(isSheetName);
  const near = [...new Set([...(slip === undefined ? [] : [slip]), ...sheets])].slice(0, MAX_NAMES);
  const meant = slip === undefined ? undefined : join(dirname(path), slip);
  // A word that begins with `-` would be a flag.
  const right = meant?.startsWith('-') ? `./${meant}` : meant;
  return problem('E101', { path: full, near }, { correction: correctionOf(path, right) });
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

export const isSkipped = ({ skipRows = [] }: SheetOptions, row: number): boolean =>
  skipRows.some(({ from, to }) => row >= from && row <= to);

/** How to read a file, without the meaning of its columns. */
export type ReadOptions = KeptIn<'reading'>;

/** How a sheet is read, as plain JSON. */
export type SheetOptions = { readonly format: SheetFormat } & ReadOptions &
  Omit<Mapping, Always> &
  Required<Pick<Mapping, Always>> & {
    /** Brackets in templates are optional parts. Batches made before they were have none. */
    readonly optionalParts?: true;
  };

type Mapping = KeptIn<'sheet'>;
type Always = 'map' | 'set' | 'drop' | 'types';

export type InputKind = SheetOptions['types'][string];

/** Ranges and rows in the order of the sheet. */
export const withRows = (ranges: readonly RowRange[], lines: readonly number[]): readonly RowRange[] =>
  [...ranges, ...rangesOf(lines)].toSorted((a, b) => a.from - b.from);

export function rangesOf(lines: readonly number[]): readonly RowRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last?.to === line - 1) last.to = line;
    else ranges.push({ from: line, to: line });
  }
  return ranges;
}
