// How the user called the program.

import { basename, relative } from 'node:path';
import { shellWord } from '../errors/outside-text.ts';

export const PROGRAM = 'runsheet';

/** `runsheet` on the PATH, `npx runsheet` from node_modules, `node bin/runsheet.mjs` in a clone; `file`: as the process was started. */
export function programName(file = process.argv[1] ?? '', folder = process.cwd()): string {
  if (/[\\/]node_modules[\\/](?:\.bin|runsheet)[\\/]/.test(file)) return `npx ${PROGRAM}`;
  if (basename(file) !== `${PROGRAM}.mjs`) return PROGRAM;
  const own = relative(folder, file);
  return `node ${shellWord(own.startsWith('..') ? file : own)}`;
}
