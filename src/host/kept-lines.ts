// An append-only file of texts in the state folder, one per line. A text with line breaks, such as an odd path, is written as
// JSON, because its lines would be read as separate texts.

import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { textIfThere } from '../errors/file-fault.ts';
import { takeStateFolder } from './state-folder.ts';

/** Does nothing if the file already has the text. */
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
