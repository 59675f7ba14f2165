// Targets of notices as a command or a program gives them. Kept apart from what prepares them, because every page of help loads it.

import { resolve } from 'node:path';

const PROGRAM = 'exec:';

/** A program relative to the current folder becomes absolute; other targets stay as they are. */
export const absoluteTarget = (text: string): string =>
  text.startsWith(PROGRAM) && text !== PROGRAM ? `${PROGRAM}${resolve(text.slice(PROGRAM.length))}` : text;
