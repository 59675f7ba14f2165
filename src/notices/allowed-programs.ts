// Remembers which programs the user of this machine named for notifications (--notify exec:…), in the state folder, which only its
// owner can write. A batch folder from somewhere else can name programs too, and those do not start.

import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const programsFile = (home: string): string => join(home, 'programs');

export function allowProgram(home: string, path: string): void {
  if (allowedPrograms(home).includes(path)) return;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  appendFileSync(programsFile(home), `${path}\n`, { mode: 0o600 });
}

export function allowedPrograms(home: string): readonly string[] {
  try {
    return readFileSync(programsFile(home), 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
