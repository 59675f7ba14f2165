// `npm run mutants [-- --only <id>]`: puts every seeded bug into a copy of the project, runs the test file that must notice it,
// and writes docs/testing/mutants.md. Fails where a bug survives, where its text is not there any more, or where the tests are
// not green without it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantsPage } from './document.ts';
import { control, killAll, type PlannedResult } from './killing.ts';
import { MUTANTS } from './mutants.ts';

const PAGE = join(import.meta.dirname, '../../docs/testing/mutants.md');
const AT_ONCE = 2;

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = MUTANTS.filter(({ id }) => values.only?.includes(id) ?? true);
if (chosen.length === 0) throw new Error(`no mutant is called ${values.only?.join(' or ')}`);
const widest = Math.max(...chosen.map(({ id }) => id.length));

const tell = ({ mutant, verdict, seconds }: PlannedResult): void => {
  const words = {
    green: () => 'SURVIVED',
    red: () => `killed by ${verdict.kind === 'red' ? verdict.claims[0] : ''}`,
    broken: () => `BROKEN ${verdict.kind === 'broken' ? verdict.reason : ''}`,
  }[verdict.kind]();
  console.log(`${mutant.id.padEnd(widest)}  ${seconds.toFixed(1).padStart(5)} s  ${words}`);
};

const startedMs = Date.now();
const without = await control(chosen);
if (without.kind !== 'green') {
  console.log('without any bug:', without);
  process.exit(1);
}
const fates = await killAll(chosen, AT_ONCE, tell);
const alive = fates.filter(({ verdict }) => verdict.kind !== 'red').map(({ mutant }) => mutant.id);
const seconds = ((Date.now() - startedMs) / 1000).toFixed(0);
console.log(`${fates.length} mutants in ${seconds} s, ${alive.length} alive ${alive.join(', ')}`);
if (values.only === undefined) writeFileSync(PAGE, mutantsPage(fates, readFileSync(PAGE, 'utf8')));
process.exit(alive.length > 0 ? 1 : 0);
