// Writes dist/schemas: one JSON Schema for each noun of `-o json`, and that of a job file.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOUNS, type Noun } from './nouns.ts';
import { jobSchema, publishedSchema } from './schemas.ts';

const folder = join(import.meta.dirname, '../../dist/schemas');
mkdirSync(folder, { recursive: true });
for (const noun of Object.keys(NOUNS) as Noun[])
  writeFileSync(join(folder, `${noun}.schema.json`), publishedSchema(noun));
writeFileSync(join(folder, 'job.schema.json'), jobSchema());
