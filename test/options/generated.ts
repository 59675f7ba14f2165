// The files that npm run docs writes from the table of options, wholly or between two marks.

import { OPTIONS, type AnyOption } from '../../src/options/table.ts';
import { programTypes } from './program-types.ts';

type Generated = { readonly path: string; readonly written: (before: string) => string };

export const GENERATED: readonly Generated[] = [
  { path: 'src/options/generated.ts', written: programTypes },
  { path: 'docs/library.md', written: (before) => between(before, optionList()) },
];

const START = '<!-- options: written by npm run docs -->';
const END = '<!-- end of options -->';

function between(before: string, text: string): string {
  const [start, end] = [before.indexOf(START), before.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`the marks are missing: ${START} and ${END}`);
  return `${before.slice(0, start + START.length)}\n\n${text}\n\n${before.slice(end)}`;
}

/** The names by the groups of `--help all`; their texts stand with the types, where an editor shows them. */
function optionList(): string {
  const groups = Map.groupBy(Object.entries<AnyOption>(OPTIONS), ([, { group }]) => group);
  return [...groups]
    .map(([group, rows]) => `- ${group}: ${rows.map(([option]) => `\`${option}\``).join(', ')}`)
    .join('\n');
}
