// Whether the result of a row of an earlier batch can be used for a row that asks for the same: it succeeded, and its files are
// there.

import { lstat } from 'node:fs/promises';
import type { BatchRow } from '../../results/batch-rows.ts';
import type { FileRecord } from '../../results/row-record.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { Store } from '../../store/store.ts';

/** A row that was sent on another GPU than its own answers another request. */
export async function isReusable({ row, record }: BatchRow, { store, file }: BatchFolder): Promise<boolean> {
  if (record?.outcome !== 'succeeded') return false;
  const { gpu_asked: asked } = record;
  const own = row.gpu === undefined ? (file.sheet.options.ladder ?? [file.deployment.gpu]) : [row.gpu];
  if (asked !== undefined && !own.includes(asked)) return false;
  const are = await Promise.all(record.files.map((one) => isPresent(store, one)));
  return are.every(Boolean);
}

async function isPresent(store: Store, { path, bytes }: FileRecord): Promise<boolean> {
  if (!path.startsWith('outputs/') || path.split('/').includes('..')) return false;
  const { localPath } = store;
  if (localPath === undefined) return (await store.facts(path))?.bytes === bytes;
  // A link is no file that a run made.
  const found = await lstat(localPath(path)).catch(unlessAbsent);
  return found?.isFile() === true && found.size === bytes;
}

/** A file that cannot be read may exist: buying its row again needs a decision of the user. */
function unlessAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
