// `npm run conformance:break`: breaks every rule in turn, runs all cases each time, prints which cases fail, and writes
// docs/testing/conformance.md. Fails if a rule can be broken without a failure of a case that names it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES, inFlavour, RULES } from './all.ts';
import { breakRule, failuresOf, inTurn, type Broken } from './breaking.ts';
import { conformancePage } from './document.ts';
import type { Rule } from './rule.ts';

const PAGE = join(import.meta.dirname, '../../docs/testing/conformance.md');
const CONCURRENCY = 3;

for (const flavour of ['specification', 'vendor'] as const) {
  const failures = await failuresOf(inFlavour(CASES, flavour), flavour);
  for (const { name, reason } of failures) console.log(`${flavour}, nothing broken: ${name}: ${reason}`);
  if (failures.length > 0) process.exit(1);
}

const startedMs = Date.now();
const widest = Math.max(...RULES.map(({ id }) => id.length));
const broken = await inTurn(RULES, CONCURRENCY, (rule) => breakAndLog(rule));
const unnoticed = broken.filter(({ seen, blind }) => seen.length === 0 || blind.length > 0);
writeFileSync(PAGE, conformancePage());
const seconds = ((Date.now() - startedMs) / 1000).toFixed(0);
console.log(
  `${RULES.length} rules broken in ${seconds} s, ${CASES.length} cases, ${unnoticed.length} unnoticed`,
);
process.exit(unnoticed.length > 0 ? 1 : 0);

async function breakAndLog(rule: Rule): Promise<Broken> {
  const result = await breakRule(rule, 'all cases');
  const { seen, blind, also } = result;
  const names = [...seen, ...blind.map((name) => `NOT: ${name}`)].join('; ');
  console.log(
    `${rule.id.padEnd(widest)}  ${names || 'NO CASE'}${also.length > 0 ? ` (and ${also.length} others)` : ''}`,
  );
  return result;
}
