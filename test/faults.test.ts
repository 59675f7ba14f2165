// docs/testing/faults.md names tests; a test that was renamed or deleted is found out here.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'docs/testing/faults.md'), 'utf8');
const FAULTS = PAGE.split(/^## /m).slice(1);

type Named = { readonly file: string; readonly title: string };

const namedIn = (text: string): readonly Named[] =>
  [...text.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, file = '', title = '']) => ({ file, title }));

/** Whether the file has a test of this title; of one for several cases, what its cases have in common. */
function isThere({ file, title }: Named): boolean {
  const path = join(ROOT, file);
  if (!existsSync(path)) return false;
  const titles = readFileSync(path, 'utf8').matchAll(/(?:\bit\(|\)\()\s*(['"`])((?:\\.|(?!\1).)+)\1/g);
  const common = [...titles].flatMap(([, , found = '']) => found.split('%s'));
  return common.map((part) => part.replaceAll(/^[:,\s]+|[:,\s]+$/g, '')).includes(title);
}

describe('docs/testing/faults.md', () => {
  it('has each fault once, in order', () => {
    const numbers = FAULTS.map((fault) => /^F(\d+) /.exec(fault)?.[1]);
    expect(numbers).toEqual(Array.from({ length: 23 }, (_, at) => String(at + 1)));
  });

  it('names a test for each, or says that there is none', () => {
    const bare = FAULTS.filter((fault) => namedIn(fault).length === 0);
    expect(bare.map((fault) => fault.split('\n')[0])).toEqual([]);
  });

  it('names only tests that there are', () => {
    const named = namedIn(PAGE);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((one) => !isThere(one))).toEqual([]);
  });

  it('knows a title that no test has from one that a test has', () => {
    const [first] = namedIn(PAGE);
    expect(first && isThere(first)).toBe(true);
    expect(first && isThere({ ...first, title: `${first.title}!` })).toBe(false);
    expect(first && isThere({ ...first, file: `${first.file}x` })).toBe(false);
  });
});
