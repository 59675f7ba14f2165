// Finds the bundle of a clone (bin/bundle.mjs), which loads in half the time and is used until a source changes. The folder with
// the highest number is the newest bundle. It contains a list of its sources, because reading their folders takes longer than
// checking each file.

import { lstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export const PACKAGES = join(root, 'node_modules');
export const KEPT = join(PACKAGES, '.cache/runsheet/commands');
export const LIST = 'sources.json';

/** The change time, which no program can set. It is compared for equality, because clocks are set back and differ between disks. */
export const changedAt = (path) => lstatSync(join(root, path)).ctimeMs;

export const newestKept = () => Math.max(0, ...readdirSync(KEPT).map(Number).filter(Number.isFinite));

/** The main file of the bundle; undefined if there is none, or if a source, a folder of sources or a package has changed since. */
export function keptBundle() {
  try {
    const made = join(KEPT, String(newestKept()));
    const sources = JSON.parse(readFileSync(join(made, LIST), 'utf8'));
    const isCurrent = sources.every(([path, changed]) => changedAt(path) === changed);
    return isCurrent && isAsSafeAsPackages([made, KEPT, dirname(KEPT), dirname(dirname(KEPT))])
      ? join(made, 'main.js')
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether only users who can write to the packages can write there, because code in these folders is run unchecked. */
export function isAsSafeAsPackages(folders) {
  const packages = statSync(PACKAGES);
  const owners = new Set([0, packages.uid, process.getuid?.()]);
  return folders
    .map((folder) => statSync(folder, { throwIfNoEntry: false }) ?? packages)
    .every(({ uid, mode }) => owners.has(uid) && (mode & ~packages.mode & 0o022) === 0);
}
