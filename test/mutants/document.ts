// docs/testing/mutants.md: the table of the seeded bugs is written here, the part about Stryker by hand.

import type { PlannedResult } from './killing.ts';

export const STRYKER_PART = '\n## Mutants of src/batch';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** The row of a mutant, as far as it does not depend on who noticed. */
export const beginningOf = ({ id, loses }: PlannedResult['mutant']): string => line(`\`${id}\``, loses);

/** The page with what the tests noticed; whatever it says about Stryker stays. */
export function mutantsPage(fates: readonly PlannedResult[], before: string): string {
  const stryker = before.slice(before.indexOf(STRYKER_PART));
  return [
    '# Mutants',
    'Bugs that are put into the code on purpose, to see whether a test notices.',
    '## Seeded bugs',
    'Outside `src/batch`. `npm run mutants` puts each of these bugs into a copy of the project, runs the test file that guards the rule, writes this table, and fails if a bug is not noticed. The same tests pass without any bug.',
    [
      line('bug', 'what a user would lose', 'the claim that fails'),
      line('---', '---', '---'),
      ...fates.map((fate) => `${beginningOf(fate.mutant)} ${cell(noticedBy(fate))} |`),
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n', stryker);
}

function noticedBy({ verdict }: PlannedResult): string {
  if (verdict.kind !== 'red') return 'NOT NOTICED';
  const [first = '', ...others] = verdict.claims;
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}
