// The outputs of a program that stays: copies, because the program may go on writing after its answer.
//
//      out/ ──copied, without a change since the answer──▶ whole.part/ ──renamed──▶ whole/

import { constants, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TryFile, TryFolder } from './try-folder.ts';

/** Throws an Error if a file changes after the answer. A later service finds the same copies. */
export async function wholeFiles(folder: TryFolder, answeredMs: number): Promise<readonly TryFile[]> {
  if (!existsSync(folder.whole)) await copyAll(folder, answeredMs);
  return folder.wholeFiles();
}

async function copyAll(folder: TryFolder, answeredMs: number): Promise<void> {
  const part = `${folder.whole}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { mode: 0o700 });
  const files = folder.files(answeredMs);
  refuse(folder.unfinished(answeredMs));
  for (const file of files) await copyFile(file.path, join(part, file.filename), constants.COPYFILE_FICLONE);
  // Looks last: a file that is unchanged now was whole while it was copied.
  refuse(files.find((file) => !isSame(file, join(part, file.filename))));
  renameSync(part, folder.whole);
}

function refuse(file: TryFile | undefined): void {
  if (file === undefined) return;
  throw new Error(
    `the file ${file.filename} was written after the answer: a program closes its files before it answers`,
  );
}

function isSame({ path, stats }: TryFile, copy: string): boolean {
  const now = lstatSync(path, { throwIfNoEntry: false });
  return (
    now?.isFile() === true &&
    now.ino === stats.ino &&
    now.mtimeMs === stats.mtimeMs &&
    now.size === stats.size &&
    lstatSync(copy).size === stats.size
  );
}
