// Texts name commands as `runsheet …`; where they are printed, the name is replaced by the way of calling that works in this shell.

import { PROGRAM } from '../host/program-name.ts';

/** Every command, because a sentence may also begin with `runsheet`. A test compares them with the list of commands. */
export const COMMANDS =
  'cancel clean codec compare completion demo deployments dev doctor events export follow list logs migrate-check open pause plan pool results resume retry rows run scale schedule service show status submit verify wait worker'.split(
    ' ',
  );

/** "a runsheet worker" is no command. */
const NAMED = new RegExp(
  String.raw`(?<!\ba |[\w./-])runsheet(?= (?:--help|--version|${COMMANDS.join('|')})\b)`,
  'g',
);

export const asCalled = (text: string, program: string): string =>
  program === PROGRAM ? text : text.replaceAll(NAMED, () => program);
