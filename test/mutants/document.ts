// Writes what was broken, and who noticed, as a page.

import type { Fate } from './killing.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** The row of a mutant, as far as it does not depend on who noticed. */
export const beginningOf = ({ id, rule, loses }: Fate['mutant']): string =>
  `| ${[`\`${id}\``, rule, loses].map(cell).join(' | ')} |`;

/** The page `docs/mutants.md`. */
export function mutantsPage(fates: readonly Fate[]): string {
  const killed = fates.filter(({ verdict }) => verdict.kind === 'red').length;
  return [
    '# Seeded bugs',
    'Written by `npm run mutants`, which puts each of these bugs into a copy of the project, runs the cheapest tests that guard the rule it breaks, and fails where they do not notice. The same tests are green without any bug.',
    `${fates.length} bugs, ${killed} noticed.`,
    [
      line('bug', 'rule', 'what a user would lose', 'the claim that fails'),
      line('---', '---', '---', '---'),
      ...fates.map((fate) => `${beginningOf(fate.mutant)} ${cell(noticedBy(fate))} |`),
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

function noticedBy({ verdict }: Fate): string {
  if (verdict.kind !== 'red') return 'NOBODY';
  const [first = '', ...others] = verdict.claims;
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}
