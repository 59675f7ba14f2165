// Writes a page with the rules, the cases and the open points of the specification.

import { CASES, casesOf, RULES } from './all.ts';
import { BEYOND, NOT_SHOWN } from './not-shown.ts';
import type { Rule } from './rule.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [line(...head), line(...head.map(() => '---')), ...rows.map((row) => line(...row))].join('\n');

const saying = ({ says, only }: Rule): string => (only === undefined ? says : `${says} (${only} only)`);

const chapterOf = (source: string): string => {
  const rows = RULES.filter((rule) => rule.source === source).map((rule) => [
    `\`${rule.id}\``,
    saying(rule),
    casesOf(rule)
      .map(({ name }) => name)
      .join('; '),
  ]);
  return `### ${source}\n\n${table(['rule', 'says', 'cases that fail when it is broken'], rows)}`;
};

const isReal = (source: string): boolean => source.startsWith('Real service');

/** The page `docs/testing/conformance.md`. */
export function conformancePage(): string {
  const sources = [...new Set(RULES.map(({ source }) => source))];
  const specified = sources.filter((source) => !isReal(source));
  const free = CASES.filter(({ cost }) => cost === 'free').length;
  return [
    '# Conformance',
    'Written by `npm run conformance:break`, which breaks each rule with a gateway that lies before the local run service, and fails where a case that names the rule does not notice.',
    `${RULES.length} rules, ${RULES.filter(({ source }) => !isReal(source)).length} of them from the specification; ${CASES.length} cases, of which ${free} buy nothing.`,
    'Against another service: `RUNSHEET_CONFORMANCE_URL`, `RUNSHEET_CONFORMANCE_KEY` and `RUNSHEET_CONFORMANCE_DEPLOYMENT`, then `npx vitest run test/conformance/conformance.test.ts`. Cases that buy runs are skipped by name unless `RUNSHEET_CONFORMANCE_BUY=1`. `RUNSHEET_CONFORMANCE_V1_URL` adds V1; `RUNSHEET_CONFORMANCE_FLAVOUR=vendor` expects the real service where it differs from the specification.',
    '## What the specification says',
    ...specified.map(chapterOf),
    '## What the specification leaves open, and the real service does',
    ...sources.filter(isReal).map(chapterOf),
    '## Not shown',
    'What the specification leaves open in so many words.',
    table(
      ['chapter', 'not shown', 'our choice', 'why'],
      NOT_SHOWN.map(({ chapter, what, choice, why }) => [chapter, what, choice, why]),
    ),
    '## Said, but not of a service',
    'Sentences that no answer of a service can show to hold or to be broken.',
    table(
      ['chapter', 'says', 'why no case pins it'],
      BEYOND.map(({ chapter, says, why }) => [chapter, says, why]),
    ),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}
