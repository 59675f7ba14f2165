// The reference is written by `npm run api`; who adds an export or an option has to run it again.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGES = [
  ['src/index.ts', 'docs/api/runsheet.md'],
  ['src/worker/plugin.ts', 'docs/api/worker.md'],
  ['workflows/application.ts', 'docs/api/workflow.md'],
] as const;

/** The names that a module exports. */
const exportsOf = (source: string): readonly string[] => [
  ...[...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .split(/ as |^type /)
            .at(-1) ?? '',
      )
      .filter(Boolean),
  ),
  ...[...source.matchAll(/^export (?:class|type|function|const) (\w+)/gm)].map(([, name = '']) => name),
];

/** Each member of the types whose values a program writes, with what the page says about it. */
function optionsOn(page: string): readonly (readonly [member: string, text: string])[] {
  const types = page
    .split(/^### /m)
    .filter((one) => /^(?:\w*Options|Limits|ColumnMapping|ResultsOfBatch)\n/.test(one));
  return types.flatMap((type) => {
    const name = type.slice(0, type.indexOf('\n'));
    return type
      .split(/^##### /m)
      .slice(1)
      .map((member) => [`${name}.${member.slice(0, member.indexOf('\n'))}`, member] as const);
  });
}

/** Beside the headings, the signature and the origin. */
const isDescribed = (member: string): boolean =>
  member
    .split('\n')
    .slice(1)
    .some((line) => /^[^\s>#*]/.test(line) && !/^\[?`/.test(line));

describe('the reference', () => {
  it.each(PAGES)('has every export of %s', (source, page) => {
    const written = text(page);
    const names = exportsOf(text(source));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !new RegExp(`^### ${name}(?:\\(\\))?$`, 'm').test(written))).toEqual([]);
  });

  it('describes every option of the library', () => {
    const options = optionsOn(text('docs/api/runsheet.md'));
    expect(options.length).toBeGreaterThan(80);
    expect(options.filter(([, member]) => !isDescribed(member)).map(([name]) => name)).toEqual([]);
  });
});
