// Makes a copy of the project in a temporary folder, to which a mutant can be applied. It links the project's packages,
// but has its own tool caches (`.cache`, `.vite`), so that no other run uses a broken workflow bundle.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutate, type Mutant } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'workflows',
  'activities',
  'test',
  'bin',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

export type Copy = {
  readonly folder: string;
  /** Applies the mutant to the copy while `work` runs. Throws if the mutant does not match its file. */
  with<T>(mutant: Mutant, work: () => Promise<T>): Promise<T>;
  remove(): void;
};

export const sourceOf = ({ file }: Pick<Mutant, 'file'>): string => readFileSync(join(ROOT, file), 'utf8');

export function copyProject(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-mutants-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(packages))
    if (!name.startsWith('.')) symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  return {
    folder,
    with: async (mutant, work) => {
      const source = sourceOf(mutant);
      const place = join(folder, mutant.file);
      writeFileSync(place, mutate(mutant, source));
      try {
        return await work();
      } finally {
        writeFileSync(place, source);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
