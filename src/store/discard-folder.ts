// Removes folders with very many files: a folder disappears immediately under a hidden name, and its files are deleted afterwards,
// which takes a disk minutes for a million of them. A command that cannot wait so long leaves the rest to a process of its own.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const PREFIX = '.removed-';

/** Folders whose deletion has begun. */
export const isDiscarded = (name: string): boolean => name.startsWith(PREFIX);

/** Resolves when the files are deleted too. */
export async function discardFolder(path: string): Promise<void> {
  const hidden = isDiscarded(basename(path)) ? path : await hide(path);
  await rm(hidden, { recursive: true, force: true });
}

/** The hidden name; the folder's own if it cannot be renamed, as a mounted disk. */
async function hide(path: string): Promise<string> {
  const hidden = join(dirname(path), `${PREFIX}${basename(path)}-${randomBytes(4).toString('hex')}`);
  try {
    await rename(path, hidden);
    return hidden;
  } catch {
    return path;
  }
}

/** Deletes these paths, and what is hidden beside them, with a process that outlives this one. */
export function discardLater(paths: readonly string[]): void {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT, ...paths], {
    detached: true,
    stdio: 'ignore',
  });
  child.unref();
}

const SCRIPT = `
  import { readdir, rm } from 'node:fs/promises';
  import { dirname, join } from 'node:path';
  const remove = (path) => rm(path, { recursive: true, force: true });
  const paths = process.argv.slice(1);
  for (const path of paths) await remove(path);
  for (const parent of new Set(paths.map(dirname)))
    for (const name of await readdir(parent)) if (name.startsWith('${PREFIX}')) await remove(join(parent, name));
`;
