// Writes what is made of the table of options: the types of programs, and the tables of the documentation.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATED } from './generated.ts';

const root = join(import.meta.dirname, '../..');
for (const { path, written } of GENERATED) {
  const file = join(root, path);
  writeFileSync(file, written(readFileSync(file, 'utf8')));
}
