// `npm run mutants [-- --only <id>]`: applies every seeded bug to a copy of the project, runs the test file that must
// notice it, and writes docs/testing/mutants.md. Fails if a bug survives, if its text no longer occurs in the file, or if the
// tests fail without any bug.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { control, killAll, type MutantResult } from './killing.ts';
import { MUTANTS, ROOT } from './mutant.ts';

const CONCURRENCY = 2;

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = MUTANTS.filter(({ id }) => values.only?.includes(id) ?? true);
if (chosen.length === 0) throw new Error(`there is no mutant ${values.only?.join(' or ')}`);
const widest = Math.max(...chosen.map(({ id }) => id.length));

const noticedBy = ({ verdict }: MutantResult): string => {
  if (verdict.kind === 'green') return 'SURVIVED';
  if (verdict.kind === 'broken') return `BROKEN ${verdict.reason}`;
  const [first = '', ...others] = verdict.claims;
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
};

const report = (result: MutantResult): void =>
  console.log(
    `${result.mutant.id.padEnd(widest)}  ${result.seconds.toFixed(1).padStart(5)} s  ${noticedBy(result)}`,
  );

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
if (values.only === undefined) writeFileSync(join(ROOT, 'docs/testing/mutants.md'), pageOf(results));
process.exit(alive.length > 0 ? 1 : 0);

function pageOf(all: readonly MutantResult[]): string {
  const rows = all.map((result) => [`\`${result.mutant.id}\``, result.mutant.loses, noticedBy(result)]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Seeded bugs\n',
    ...[['bug', 'what a user would lose', 'the claim that fails'], ['---', '---', '---'], ...rows].map(line),
    '',
  ].join('\n');
}
