// `npm run conformance:break`: breaks every rule in turn, runs all cases each time, prints which cases fail, and writes
// docs/testing/conformance.md. Fails if a rule can be broken without a failure of a case that names it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pMap from 'p-map';
import { nameOf } from './case.ts';
import { CASES, casesOf, inFlavour, RULES } from './all.ts';
import { breakRule, failuresOf, type Broken } from './breaking.ts';
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
const broken = await pMap(RULES, breakAndLog, { concurrency: CONCURRENCY });
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

function conformancePage(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const chapterOf = (source: string): string => {
    const rows = RULES.filter((rule) => rule.source === source).map((rule) =>
      line(
        `\`${rule.id}\``,
        rule.only === undefined ? rule.text : `${rule.text} (${rule.only} only)`,
        casesOf(rule).map(nameOf).join('; '),
      ),
    );
    const head = line('rule', 'statement', 'cases that fail when it is broken');
    return [`## ${source}\n`, head, line('---', '---', '---'), ...rows, ''].join('\n');
  };
  const sources = [...new Set(RULES.map(({ source }) => source))];
  return ['# Conformance\n', ...sources.map(chapterOf)].join('\n');
}
