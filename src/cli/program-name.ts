// How the user called the program. Texts name commands as `runsheet …`; where they are printed, the name is replaced by the way
// of calling that works in this shell.

import { basename, relative } from 'node:path';
import { shellWord } from '../errors/outside-text.ts';

/** Every command, because a sentence may also begin with `runsheet`. A test compares them with the list of commands. */
export const COMMANDS =
  'cancel clean compare completion demo deployments dev doctor events export follow list logs migrate-check open pause plan pool results resume retry rows run scale schedule service show status submit verify wait worker'.split(
    ' ',
  );

/** "a runsheet worker" is no command. */
const NAMED = new RegExp(
  String.raw`(?<!\ba |[\w./-])runsheet(?= (?:--help|--version|${COMMANDS.join('|')})\b)`,
  'g',
);

/** The commands in a text as the user can give them. */
export const asCalled = (text: string, program: string): string =>
  program === PROGRAM ? text : text.replaceAll(NAMED, () => program);

/** The name on the PATH. */
export const PROGRAM = 'runsheet';

/** `runsheet` on the PATH, `npx runsheet` from node_modules, `node bin/runsheet.mjs` in a clone; `file`: as the process was started. */
export function programName(file: string, folder: string): string {
  if (/[\\/]node_modules[\\/](?:\.bin|runsheet)[\\/]/.test(file)) return `npx ${PROGRAM}`;
  if (basename(file) !== `${PROGRAM}.mjs`) return PROGRAM;
  const own = relative(folder, file);
  return `node ${shellWord(own.startsWith('..') ? file : own)}`;
}
