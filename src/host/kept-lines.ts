// Texts that are kept in a file of the state folder which only grows, one a line. A text of several lines, such as an odd path, is written as JSON: as it
// is, it would be read as other texts.

import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { textIfThere } from '../errors/file-fault.ts';
import { takeStateFolder } from './state-folder.ts';

/** Does nothing if the file has it. */
export function keepLine(file: string, text: string): void {
  if (keptLines(file).includes(text)) return;
  takeStateFolder(dirname(file));
  const isPlain = text !== '' && !/^"|[\r\n]/.test(text);
  appendFileSync(file, `${isPlain ? text : JSON.stringify(text)}\n`, { mode: 0o600 });
}

export const keptLines = (file: string): readonly string[] =>
  (textIfThere(file)?.split('\n') ?? [])
    .filter(Boolean)
    .map((line) => (line.startsWith('"') ? (JSON.parse(line) as string) : line));
