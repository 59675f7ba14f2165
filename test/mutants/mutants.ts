import { ANSWERS } from './list/answers.ts';
import { CARRYING } from './list/carrying.ts';
import { DOUBTS } from './list/doubt.ts';
import { ENDING } from './list/ending.ts';
import { FILES } from './list/files.ts';
import { REMEMBERING } from './list/remembering.ts';
import { SENDING } from './list/sending.ts';
import type { Mutant } from './mutant.ts';

/** Every seeded bug, chapter by chapter. */
export const MUTANTS: readonly Mutant[] = [
  ...ANSWERS,
  ...SENDING,
  ...DOUBTS,
  ...ENDING,
  ...FILES,
  ...CARRYING,
  ...REMEMBERING,
];
