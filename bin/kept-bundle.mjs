// The bundle of a clone (bin/bundle.mjs) is used until a source changes: it loads in half the time. Its folder is called after the
// moment when it was begun.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'activities', 'workflows'];

export const KEPT = join(root, 'node_modules/.cache/runsheet/commands');

/** Its first file; undefined if there is none, or if a source or a package has changed since. */
export function keptBundle() {
  try {
    const begun = Math.max(...readdirSync(KEPT).map(Number).filter(Number.isFinite));
    // No program can set when a file has changed.
    const isOlder = (path) => lstatSync(join(root, path)).ctimeMs < begun;
    const files = SOURCES.flatMap((folder) => [
      folder,
      ...readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
    ]);
    const isFresh = ['node_modules/.package-lock.json', 'bin/bundle.mjs', ...files].every(isOlder);
    return isFresh ? join(KEPT, String(begun), 'main.js') : undefined;
  } catch {
    return undefined;
  }
}
