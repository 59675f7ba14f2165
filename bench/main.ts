// npm run bench [-- --postgres] [--only command|throughput|shortRuns|start|steady|rates|million|service|kills] [--cycles N] [--rows N]: measures, and
// writes docs/benchmarks.md. What is not measured this time keeps the figures of the last time, which lie beside the
// page.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chartsOf } from './charts.ts';
import { measureCommand } from './command.ts';
import { measureKills } from './kills.ts';
import { pageOf, type Figures } from './page.ts';
import type { Backend } from './place.ts';
import { measureRates } from './rates.ts';
import { measureShortRuns } from './rivals/short-runs.ts';
import { measureMillion, type Million } from './million.ts';
import { measureService } from './service.ts';
import { measureStart } from './start.ts';
import { measureSteady } from './steady.ts';
import { measureThroughput, type Throughput } from './throughput.ts';

const { values } = parseArgs({
  options: {
    postgres: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    /** Rows of the very large sheet, which is measured only if it is named. */
    rows: { type: 'string', default: '1000000' },
    /** How often each program is killed. */
    cycles: { type: 'string', default: '10' },
  },
});
const backends: readonly Backend[] = values.postgres ? ['dev server', 'PostgreSQL'] : ['dev server'];
const wants = (name: keyof Figures): boolean => values.only?.includes(name) ?? true;

const docs = join(import.meta.dirname, '..', 'docs');
const kept = join(import.meta.dirname, 'figures.json');
let figures: Figures = existsSync(kept)
  ? (JSON.parse(readFileSync(kept, 'utf8')) as Figures)
  : { throughput: [], start: undefined, steady: [] };

if (wants('command')) figures = { ...figures, command: await measureCommand() };
if (wants('throughput')) {
  const measured: Throughput[] = [];
  for (const backend of backends)
    for (const cap of [50, 200, 500]) measured.push(await measureThroughput(backend, cap));
  const otherRows = figures.throughput.filter(({ backend }) => !backends.includes(backend));
  figures = { ...figures, throughput: [...measured, ...otherRows] };
}
if (wants('start')) figures = { ...figures, start: await measureStart() };
if (wants('steady'))
  figures = {
    ...figures,
    steady: [await measureSteady('dev server', 2), await measureSteady('dev server', 10)],
  };
if (wants('shortRuns')) figures = { ...figures, shortRuns: await measureShortRuns('dev server') };
if (wants('rates')) figures = { ...figures, rates: await measureRates() };
if (wants('service'))
  figures = {
    ...figures,
    service: [await measureService(1_000, 2_000), await measureService(2_000, 4_000)],
  };
if (wants('kills')) {
  const measured = await measureKills(Number(values.cycles));
  const otherRows =
    figures.kills?.filter(({ rival }) => !measured.some((result) => result.rival === rival)) ?? [];
  figures = { ...figures, kills: [...measured, ...otherRows] };
}
if (values.only?.includes('million')) {
  const measured: Million[] = [];
  for (const backend of backends) measured.push(await measureMillion(backend, Number(values.rows)));
  const otherRows = figures.million?.filter(({ backend }) => !backends.includes(backend)) ?? [];
  figures = { ...figures, million: [...measured, ...otherRows] };
}

mkdirSync(docs, { recursive: true });
writeFileSync(kept, `${JSON.stringify(figures, undefined, 2)}\n`);
writeFileSync(join(docs, 'benchmarks.md'), pageOf(figures));
for (const [name, svg] of chartsOf(figures))
  writeFileSync(join(docs, 'pictures', `benchmark-${name}.svg`), svg);
console.error(`written: ${join(docs, 'benchmarks.md')}`);
