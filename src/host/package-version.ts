// The version of this package.

import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { shellWord } from '../errors/outside-text.ts';

/** The manifest lies beside the sources in a clone, and one folder further up in a package. */
const MANIFEST = import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json';

export const { version } = JSON.parse(readFileSync(new URL(MANIFEST, import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const PROGRAM = 'runsheet';

/**
 * `runsheet` on the PATH, `npx runsheet` from node_modules, `node bin/runsheet.mjs` in a clone. `file`: the program that the
 * process was started with.
 */
export function programName(file = process.argv[1] ?? '', folder = process.cwd()): string {
  if (/[\\/]node_modules[\\/](?:\.bin|runsheet)[\\/]/.test(file)) return `npx ${PROGRAM}`;
  if (basename(file) !== `${PROGRAM}.mjs`) return PROGRAM;
  const own = relative(folder, file);
  return `node ${shellWord(own.startsWith('..') ? file : own)}`;
}

/**
 * Like {@link programName}, but valid from any folder, as a page needs it: npx finds a cached program everywhere, but a project's
 * only there.
 */
export function programAnywhere(file = process.argv[1] ?? ''): string {
  if (/[\\/]_npx[\\/]/.test(file)) return `npx ${PROGRAM}`;
  const isFile =
    basename(file) === `${PROGRAM}.mjs` || /[\\/]node_modules[\\/]\.bin[\\/]runsheet$/.test(file);
  return isFile ? `node ${shellWord(file)}` : PROGRAM;
}
