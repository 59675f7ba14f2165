// The bundle of a clone (bin/bundle.mjs) is used until a source changes: it loads in half the time. The name of its folder is a
// number, the highest of which is the newest, and it has a list of its sources, because reading their folders takes longer than
// looking at all of them.

import { lstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export const PACKAGES = join(root, 'node_modules');
export const KEPT = join(PACKAGES, '.cache/runsheet/commands');
export const LIST = 'sources.json';

/** No program can set it. It is compared as a whole, because clocks are set back, and differ between disks. */
export const changedAt = (path) => lstatSync(join(root, path)).ctimeMs;

export const newestKept = () => Math.max(0, ...readdirSync(KEPT).map(Number).filter(Number.isFinite));

/** Its first file; undefined if there is none, or if a source, their folders or a package have changed since. */
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

/** Whether only users can write there who can also write to the packages: the code in these folders is run unread. */
export function isAsSafeAsPackages(folders) {
  const packages = statSync(PACKAGES);
  const owners = new Set([0, packages.uid, process.getuid?.()]);
  return folders
    .map((folder) => statSync(folder, { throwIfNoEntry: false }) ?? packages)
    .every(({ uid, mode }) => owners.has(uid) && (mode & ~packages.mode & 0o022) === 0);
}
