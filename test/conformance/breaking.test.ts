// Breaks every rule once, and expects every case that names it to fail. `npm run conformance:break` runs all cases each time.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CASES, RULES } from './all.ts';
import { breakRule, inTurn } from './breaking.ts';
import { conformancePage } from './document.ts';

const ids = RULES.map(({ id }) => id);

it('every case fails when a rule that it names is broken', async () => {
  const broken = await inTurn(RULES, 4, (rule) => breakRule(rule, 'its own cases'));
  expect(broken.flatMap(({ rule, blind }) => blind.map((name) => `${rule.id}: ${name}`))).toEqual([]);
  expect(broken.filter(({ seen }) => seen.length === 0).map(({ rule }) => rule.id)).toEqual([]);
});

it('every rule has a case, every case has rules, and all names are unique', () => {
  const named = new Set(CASES.flatMap(({ rules }) => rules));
  expect([...named].filter((id) => !ids.includes(id))).toEqual([]);
  expect(ids.filter((id) => !named.has(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
});

it('docs/testing/conformance.md matches the rules and cases', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/testing/conformance.md'), 'utf8');
  expect(page).toBe(conformancePage());
});
