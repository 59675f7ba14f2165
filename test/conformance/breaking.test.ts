// Breaks every rule once, and expects every case that names it to fail. `npm run conformance:break` runs all cases each time.

import pMap from 'p-map';
import { expect, it } from 'vitest';
import { CASES, RULES } from './all.ts';
import { nameOf } from './case.ts';
import { breakRule } from './breaking.ts';

const ids = RULES.map(({ id }) => id);

it('every case fails when a rule that it names is broken', async () => {
  const broken = await pMap(RULES, (rule) => breakRule(rule, 'its own cases'), { concurrency: 4 });
  expect(broken.flatMap(({ rule, blind }) => blind.map((name) => `${rule.id}: ${name}`))).toEqual([]);
  expect(broken.filter(({ seen }) => seen.length === 0).map(({ rule }) => rule.id)).toEqual([]);
});

it('every rule has a case, every case has rules, and all names are unique', () => {
  const named = new Set(CASES.flatMap(({ rules }) => rules));
  expect([...named].filter((id) => !ids.includes(id))).toEqual([]);
  expect(ids.filter((id) => !named.has(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(CASES.map(nameOf)).size).toBe(CASES.length);
});
