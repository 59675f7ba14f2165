// Checks that each seeded bug still matches the code and is on its page. Runs the tests against a few of them;
// `npm run mutants` does that for all.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sourceOf } from './copy.ts';
import { beginningOf, STRYKER_PART } from './document.ts';
import { killAll } from './killing.ts';
import { mutate, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the seeded bugs', () => {
  it.each(MUTANTS)('$id matches the code at exactly one place', (mutant) => {
    expect(mutate(mutant, sourceOf(mutant))).toContain(mutant.new);
  });

  it('have unique ids, and test files that exist', () => {
    expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length);
    expect(MUTANTS.map(({ by }) => by).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('are all in docs/testing/mutants.md, each with the claim that fails', () => {
    const page = readFileSync(join(ROOT, 'docs/testing/mutants.md'), 'utf8');
    const [seeded = ''] = page.split(STRYKER_PART);
    const lines = seeded.split('\n').filter((line) => line.startsWith('| `'));
    expect(lines.map((line) => line.split(' | ').slice(0, 2).join(' | ').concat(' |'))).toEqual(
      MUTANTS.map(beginningOf),
    );
    expect(lines.filter((line) => line.includes('NOT NOTICED'))).toEqual([]);
  });

  it('are rejected if their text is missing, occurs twice, or changes nothing', () => {
    const bug = { id: 'x', file: 'f', old: 'a', new: 'b' };
    expect(() => mutate(bug, 'c')).toThrow('occurs 0 times');
    expect(() => mutate(bug, 'aa')).toThrow('occurs 2 times');
    expect(() => mutate({ ...bug, new: 'a' }, 'a')).toThrow('changes nothing');
  });

  it('fail the tests that guard their rules, and a syntax error does not count as noticed', async () => {
    const chosen = MUTANTS.filter(({ id }) =>
      ['missing-run-believed-at-once', 'reported-for-ever'].includes(id),
    );
    const first = chosen[0] as Mutant;
    const harmless = { ...first, id: 'harmless', new: `${first.old} // as before\n` };
    const nonsense = { ...first, id: 'nonsense', new: 'if (' };
    const results = await killAll([...chosen, harmless, nonsense], 2);
    expect(results.map(({ mutant, verdict }) => [mutant.id, verdict.kind])).toEqual([
      ['missing-run-believed-at-once', 'red'],
      ['reported-for-ever', 'red'],
      ['harmless', 'green'],
      ['nonsense', 'broken'],
    ]);
  });
});
