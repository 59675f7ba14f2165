// The bundle of a clone (bin/bundle.mjs) is used until a source changes: it loads in half the time. Its folder is called after the
// moment when it was begun, and has a list of its sources, because reading their folders takes longer than looking at all of them.

import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export const KEPT = join(root, 'node_modules/.cache/runsheet/commands');
export const LIST = 'sources.json';

/** Its first file; undefined if there is none, or if a source, their folders or a package have changed since. */
export function keptBundle() {
  try {
    const begun = Math.max(...readdirSync(KEPT).map(Number).filter(Number.isFinite));
    const made = join(KEPT, String(begun));
    const sources = JSON.parse(readFileSync(join(made, LIST), 'utf8'));
    // No program can set when a file has changed.
    return sources.every((path) => lstatSync(root + path).ctimeMs < begun)
      ? join(made, 'main.js')
      : undefined;
  } catch {
    return undefined;
  }
}
