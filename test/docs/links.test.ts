// Every relative link of the pages leads to a file, and its anchor to a heading; so does every page that the program names.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './written.ts';

const PAGES = globSync(['*.md', 'docs/**/*.md', '.github/**/*.md'], {
  cwd: ROOT,
  exclude: ['docs/api/**', 'docs/*/node_modules/**'],
});
const SOURCES = globSync(
  ['{src,activities,workflows,bin,examples}/**/*.{ts,js,mjs,yml}', 'deploy/*/**/*.*', 'docker-compose.yml'],
  { cwd: ROOT, exclude: ['bin/**/node_modules/**'] },
);

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = textOf(path)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

/** Whether a link from a folder of the project leads somewhere. */
function leads(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = relative(ROOT, join(ROOT, from, path));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || (target.endsWith('.md') && anchorsOf(target).has(anchor));
}

it.each(PAGES)('every relative link of %s leads to a file and to a heading', (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const inside = links.filter((link) => !/^[a-z]+:/.test(link));
  // A link to a heading of the page itself has no path.
  const wrong = inside.filter(
    (link) => !leads(dirname(page), link.startsWith('#') ? `${relative(dirname(page), page)}${link}` : link),
  );
  expect(wrong).toEqual([]);
});

it('every page that the program names is there', () => {
  const named = SOURCES.flatMap((path) =>
    [...textOf(path).matchAll(/\bdocs\/[\w/.-]+\.md(?:#[\w-]+)?/g)].map(([link]) => ({ path, link })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ link }) => !leads('', link))).toEqual([]);
});
