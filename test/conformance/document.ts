// Writes a page with the rules, the cases and the open points of the specification.

import { CASES, casesOf, RULES } from './all.ts';
import { BEYOND, NOT_SHOWN } from './not-shown.ts';
import type { Rule } from './rule.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [line(...head), line(...head.map(() => '---')), ...rows.map((row) => line(...row))].join('\n');

const saying = ({ text, only }: Rule): string => (only === undefined ? text : `${text} (${only} only)`);

const chapterOf = (source: string): string => {
  const rows = RULES.filter((rule) => rule.source === source).map((rule) => [
    `\`${rule.id}\``,
    saying(rule),
    casesOf(rule)
      .map(({ name }) => name)
      .join('; '),
  ]);
  return `### ${source}\n\n${table(['rule', 'statement', 'cases that fail when it is broken'], rows)}`;
};

const isReal = (source: string): boolean => source.startsWith('Real service');

/** The page `docs/testing/conformance.md`. */
export function conformancePage(): string {
  const sources = [...new Set(RULES.map(({ source }) => source))];
  const specified = sources.filter((source) => !isReal(source));
  const free = CASES.filter(({ cost }) => cost === 'free').length;
  return [
    '# Conformance',
    'Written by `npm run conformance:break`, which breaks each rule with a gateway in front of the local run service, and fails if a case that names the rule still passes.',
    `${RULES.length} rules, ${RULES.filter(({ source }) => !isReal(source)).length} of them from the specification; ${CASES.length} cases; ${free} of them start no run.`,
    'Against another service: `RUNSHEET_CONFORMANCE_URL`, `RUNSHEET_CONFORMANCE_KEY` and `RUNSHEET_CONFORMANCE_DEPLOYMENT`, then `npx vitest run test/conformance/conformance.test.ts`. Cases that buy runs are skipped by name unless `RUNSHEET_CONFORMANCE_BUY=1`. `RUNSHEET_CONFORMANCE_V1_URL` adds V1; `RUNSHEET_CONFORMANCE_FLAVOUR=vendor` expects the real service where it differs from the specification.',
    '## What the specification says',
    ...specified.map(chapterOf),
    '## Behaviour of the real service that the specification leaves open',
    ...sources.filter(isReal).map(chapterOf),
    '## Not shown',
    'Points that the specification explicitly leaves open.',
    table(
      ['chapter', 'not shown', 'our choice', 'why'],
      NOT_SHOWN.map(({ chapter, what, choice, why }) => [chapter, what, choice, why]),
    ),
    '## Statements that no case can test',
    'No response of a service can confirm or contradict these statements.',
    table(
      ['chapter', 'statement', 'why no case can test it'],
      BEYOND.map(({ chapter, text, why }) => [chapter, text, why]),
    ),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}
