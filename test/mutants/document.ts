// Writes the table of seeded bugs in docs/testing/mutants.md; the part about Stryker is written by hand.

import type { MutantResult } from './killing.ts';

export const STRYKER_PART = '\n## Mutants of src/batch';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** The first two cells of a mutant's row, which do not depend on the test run. */
export const beginningOf = ({ id, loses }: MutantResult['mutant']): string => line(`\`${id}\``, loses);

/** The page with new results; its part about Stryker stays unchanged. */
export function mutantsPage(results: readonly MutantResult[], before: string): string {
  const stryker = before.slice(before.indexOf(STRYKER_PART));
  return [
    '# Mutants',
    'Bugs that are put into the code on purpose, to see whether a test notices.',
    '## Seeded bugs',
    'Outside `src/batch`. `npm run mutants` puts each of these bugs into a copy of the project, runs the test file that guards the rule, writes this table, and fails if a bug is not noticed. The same tests pass without any bug.',
    [
      line('bug', 'what a user would lose', 'the claim that fails'),
      line('---', '---', '---'),
      ...results.map((result) => `${beginningOf(result.mutant)} ${cell(noticedBy(result))} |`),
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n', stryker);
}

function noticedBy({ verdict }: MutantResult): string {
  if (verdict.kind !== 'red') return 'NOT NOTICED';
  const [first = '', ...others] = verdict.claims;
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}
