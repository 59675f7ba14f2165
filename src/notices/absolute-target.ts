// Names a program that is notified by its absolute path, because the worker runs in another folder.

import { resolve } from 'node:path';

const PROGRAM = 'exec:';

export const absoluteTarget = (text: string): string =>
  text.startsWith(PROGRAM) && text !== PROGRAM ? `${PROGRAM}${resolve(text.slice(PROGRAM.length))}` : text;
