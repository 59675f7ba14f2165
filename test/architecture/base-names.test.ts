import { basename } from 'node:path';
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOT } from '../source-imports.ts';

/** Entries of folders, and commands beside the part of the library that does their work. The number may only fall. */
const MOST = 14;

it('a base name stands for one file, with few exceptions', () => {
  const files = globSync('{src,workflows,activities}/**/*.{ts,tsx}', { cwd: ROOT });
  const names = files.map((file) => basename(file).replace(/\.tsx?$/, ''));
  const doubled = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  expect([...doubled].toSorted().slice(MOST)).toEqual([]);
});
