// Targets of notices as a command or a program writes them. A file of its own, because every page of help loads it.

import { resolve } from 'node:path';

const PROGRAM = 'exec:';

/** A program relative to the current folder becomes absolute; other targets stay as they are. */
export const absoluteTarget = (text: string): string =>
  text.startsWith(PROGRAM) && text !== PROGRAM ? `${PROGRAM}${resolve(text.slice(PROGRAM.length))}` : text;
