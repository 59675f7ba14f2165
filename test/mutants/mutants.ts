import { BUYING } from './buying.ts';
import type { Mutant } from './mutant.ts';
import { REPORTING } from './reporting.ts';

/** Every seeded bug. */
export const MUTANTS: readonly Mutant[] = [...BUYING, ...REPORTING];
