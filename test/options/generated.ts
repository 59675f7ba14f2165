// The files that npm run docs writes from the table of options, wholly or between two marks.

import { formOf } from '../../src/options/read.ts';
import { OPTIONS, type AnyOption } from '../../src/options/table.ts';
import { inProgram, programTypes } from './program-types.ts';

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

function optionList(): string {
  return Object.entries<AnyOption>(OPTIONS)
    .map(([option, row]) => {
      const value = valueText(row);
      const usual = inProgram(row.usual ?? '');
      const rest = ['', 'none'].includes(usual)
        ? ''
        : usual === 'required'
          ? '; required'
          : `; default: ${usual}`;
      return `- \`${option}\`${value}: ${inProgram(row.help)}${rest}`;
    })
    .join('\n');
}

/** What its flag takes. */
function valueText({ kind, form = formOf(kind).form(kind) }: AnyOption): string {
  return form === '' ? '' : ` (\`${form}\`)`;
}

/** As the formatter aligns a table. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join(
    '\n',
  );
}
