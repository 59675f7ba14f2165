// The version of this package.

import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { shellWord } from '../errors/outside-text.ts';

/** Beside the sources in a clone, one folder further up in a package. */
const MANIFEST = import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json';

export const { version } = JSON.parse(readFileSync(new URL(MANIFEST, import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const PROGRAM = 'runsheet';

/** `runsheet` on the PATH, `npx runsheet` from node_modules, `node bin/runsheet.mjs` in a clone; `file`: as the process was started. */
export function programName(file = process.argv[1] ?? '', folder = process.cwd()): string {
  if (/[\\/]node_modules[\\/](?:\.bin|runsheet)[\\/]/.test(file)) return `npx ${PROGRAM}`;
  if (basename(file) !== `${PROGRAM}.mjs`) return PROGRAM;
  const own = relative(folder, file);
  return `node ${shellWord(own.startsWith('..') ? file : own)}`;
}

/** The same from any folder, as a page needs it: npx finds a program of its cache everywhere, but one of a project only there. */
export function programAnywhere(file = process.argv[1] ?? ''): string {
  if (/[\\/]_npx[\\/]/.test(file)) return `npx ${PROGRAM}`;
  const isFile =
    basename(file) === `${PROGRAM}.mjs` || /[\\/]node_modules[\\/]\.bin[\\/]runsheet$/.test(file);
  return isFile ? `node ${shellWord(file)}` : PROGRAM;
}
