// The imports of the files of the tree, and the folder of the rules to which each file belongs.

import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** `path`: the imported file; undefined for a package. */
export type Import = {
  readonly target: string;
  readonly path: string | undefined;
  readonly typeOnly: boolean;
};

export const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export function importsOf(file: string): readonly Import[] {
  const pattern = /(?:^|\n)(?:import|export)(\s+type)?\s(?:[^;]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/g;
  return [...textOf(file).matchAll(pattern)]
    .map(([, type, from, lazily]) => ({
      ...targetOf(file, from ?? lazily ?? ''),
      typeOnly: type !== undefined,
    }))
    .filter(({ target }) => !target.startsWith('node:'));
}

function targetOf(file: string, name: string): Pick<Import, 'target' | 'path'> {
  if (name.startsWith('.')) {
    const path = relative(ROOT, join(ROOT, dirname(file), name));
    return { target: unitOf(path), path };
  }
  const parts = name.split('/').slice(0, name.startsWith('@') ? 2 : 1);
  return { target: parts.join('/'), path: undefined };
}

/** Finds circular uses: drops names that use nothing any more until none is left to drop, and returns the others. */
export function circlesIn(uses: readonly (readonly [from: string, to: string])[]): readonly string[] {
  for (let left = uses; ;) {
    const users = new Set(left.map(([from]) => from));
    const next = left.filter(([, to]) => users.has(to));
    if (next.length === left.length) return [...users].toSorted();
    left = next;
  }
}

/** A folder of src with all that is in it. */
export const folderOf = (unit: string): string => unit.split('/').slice(0, 2).join('/');

/** The folder that the rules speak of; a file where it lies at the top of src. */
export function unitOf(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/');
  if (top !== 'src') return top;
  const isOwn = ['contract', 'forecast', 'migration'].includes(third);
  return `${top}/${second}${isOwn ? `/${third}` : ''}`;
}
