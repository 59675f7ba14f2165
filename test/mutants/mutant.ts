// Defines a mutant: a small change of one file that would cost users money or results. Stryker makes the mutants of src/batch
// and src/options. It cannot make these: its switch does not reach the bundle of the workflows, and each of them stands for a
// loss that its tests must name.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUYING } from './buying.ts';
import { REPORTING } from './reporting.ts';

export type Mutant = {
  readonly id: string;
  /** What a user would lose because of the bug. */
  readonly loses: string;
  /** The changed file, relative to the root of the project. */
  readonly file: string;
  /** A text that occurs exactly once in the file. */
  readonly old: string;
  readonly new: string;
  /** The fastest test file that must notice the bug. */
  readonly by: `test/${string}.test.ts`;
};

/** Every seeded bug. */
export const MUTANTS: readonly Mutant[] = [...BUYING, ...REPORTING];

export const ROOT = join(import.meta.dirname, '../..');

export const sourceOf = ({ file }: Mutant): string => readFileSync(join(ROOT, file), 'utf8');

/** Returns the source with the bug. Throws unless the old text occurs exactly once. */
export function mutate(mutant: Pick<Mutant, 'id' | 'file' | 'old' | 'new'>, source: string): string {
  const parts = source.split(mutant.old);
  if (parts.length !== 2)
    throw new Error(`${mutant.id}: its text occurs ${parts.length - 1} times in ${mutant.file}`);
  if (mutant.old === mutant.new) throw new Error(`${mutant.id} changes nothing`);
  return parts.join(mutant.new);
}
