// Checks that each seeded bug still matches the code. Runs the tests against two of them; `npm run mutants` does that for all.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { killAll } from './killing.ts';
import { mutate, MUTANTS, ROOT, sourceOf, type Mutant } from './mutant.ts';

describe('the seeded bugs', () => {
  it.each(MUTANTS)('$id matches the code at exactly one place, and its test exists', (mutant) => {
    expect(mutate(mutant, sourceOf(mutant))).toContain(mutant.new);
    expect(existsSync(join(ROOT, mutant.by))).toBe(true);
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
