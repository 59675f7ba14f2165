// npm run bench [-- --postgres] [-- --quick]: measures, and writes docs/benchmarks.md.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureMemory } from './memory.ts';
import { pageOf } from './page.ts';
import type { Backend } from './place.ts';
import { measureStart } from './start.ts';
import { measureSteady } from './steady.ts';
import { measureThroughput, type Throughput } from './throughput.ts';

const { values } = parseArgs({ options: { postgres: { type: 'boolean' }, quick: { type: 'boolean' } } });
const backends: readonly Backend[] = values.postgres ? ['dev server', 'PostgreSQL'] : ['dev server'];

const throughput: Throughput[] = [];
for (const backend of backends) throughput.push(await measureThroughput(backend));
const start = await measureStart();
const steady = [
  await measureSteady('dev server', 2),
  ...(values.quick ? [] : [await measureSteady('dev server', 10)]),
];
const memory = values.quick ? [] : await measureMemory('dev server');

const docs = join(import.meta.dirname, '..', 'docs');
mkdirSync(docs, { recursive: true });
writeFileSync(join(docs, 'benchmarks.md'), pageOf({ throughput, start, steady, memory }));
console.error(`written: ${join(docs, 'benchmarks.md')}`);
