// `npm run mutants [-- --only <id>]`: applies every seeded bug to a copy of the project, runs the test file that must
// notice it, and writes docs/testing/mutants.md. Fails if a bug survives, if its text no longer occurs in the file, or if the
// tests fail without any bug.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantsPage } from './document.ts';
import { control, killAll, type MutantResult } from './killing.ts';
import { MUTANTS } from './mutants.ts';

const PAGE = join(import.meta.dirname, '../../docs/testing/mutants.md');
const CONCURRENCY = 2;

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = MUTANTS.filter(({ id }) => values.only?.includes(id) ?? true);
if (chosen.length === 0) throw new Error(`there is no mutant ${values.only?.join(' or ')}`);
const widest = Math.max(...chosen.map(({ id }) => id.length));

const report = ({ mutant, verdict, seconds }: MutantResult): void => {
  const text = {
    green: () => 'SURVIVED',
    red: () => `killed by ${verdict.kind === 'red' ? verdict.claims[0] : ''}`,
    broken: () => `BROKEN ${verdict.kind === 'broken' ? verdict.reason : ''}`,
  }[verdict.kind]();
  console.log(`${mutant.id.padEnd(widest)}  ${seconds.toFixed(1).padStart(5)} s  ${text}`);
};

const startedMs = Date.now();
const without = await control(chosen);
if (without.kind !== 'green') {
  console.log('the tests fail without any bug:', without);
  process.exit(1);
}
const results = await killAll(chosen, CONCURRENCY, report);
const alive = results.filter(({ verdict }) => verdict.kind !== 'red').map(({ mutant }) => mutant.id);
const seconds = ((Date.now() - startedMs) / 1000).toFixed(0);
console.log(`${results.length} mutants in ${seconds} s, ${alive.length} survived ${alive.join(', ')}`);
if (values.only === undefined) writeFileSync(PAGE, mutantsPage(results, readFileSync(PAGE, 'utf8')));
process.exit(alive.length > 0 ? 1 : 0);
