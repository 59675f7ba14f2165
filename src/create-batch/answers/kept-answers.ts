// The answers that `plan --save` keeps, so that the sheet of tomorrow needs no flags: by deployment and by the columns of the sheet,
// because other columns may need other answers.

import { createHash } from 'node:crypto';
import { answersTo, type Guess } from '../../sheet/guesses/guess.ts';
import type { SheetOptions } from '../../sheet/sheet-options.ts';
import { readAnswers, updateAnswers, type KeptAnswers } from '../../store/answers-file.ts';
import { openStore } from '../../store/open-store.ts';

/** Whose answers these are. */
export type AnswersOf = {
  readonly out: string;
  readonly service: { readonly base: string };
  readonly deployment: { readonly id: string };
};

/** The newest answers; older ones are forgotten. */
const MOST_KEPT = 100;

const whoseOf = ({ service, deployment }: AnswersOf): string =>
  createHash('sha256').update(`${service.base} ${deployment.id}`).digest('hex').slice(0, 16);

/** The newest answers first. */
export const keptAnswers = (of: AnswersOf): Promise<readonly KeptAnswers[]> =>
  readAnswers(openStore(of.out), whoseOf(of));

/** Replaces the answers for these columns. */
export async function keepAnswers(of: AnswersOf, kept: KeptAnswers): Promise<void> {
  await updateAnswers(openStore(of.out), whoseOf(of), (all) => {
    const others = all.filter(({ columns }) => !isSame(columns, kept.columns));
    return [kept, ...others].slice(0, MOST_KEPT);
  });
}

export const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Whether these answers confirm a guess. */
export const isKept = (guess: Guess, { agreed }: Pick<KeptAnswers, 'agreed'>): boolean =>
  guess.sure === 'confirm' && answersTo(guess).every((answer) => agreed.includes(answer));

/** The options that answer a guess. */
export function answeringOptions(given: Omit<SheetOptions, 'format'>): KeptAnswers['options'] {
  const { hidden, decimalComma, skipRows, gpuColumn, keyColumn, map, drop, types } = given;
  return {
    // Tomorrow, Excel may hide other rows, so only leaving them out is kept.
    ...(hidden === 'skip' ? { hidden } : {}),
    ...(decimalComma === undefined ? {} : { decimalComma }),
    ...(skipRows?.length === 0 ? { skipRows: [] } : {}),
    ...(gpuColumn === undefined ? {} : { gpuColumn }),
    ...(keyColumn === undefined ? {} : { keyColumn }),
    ...(Object.keys(map).length > 0 ? { map } : {}),
    ...(drop.length > 0 ? { drop } : {}),
    ...(Object.keys(types).length > 0 ? { types } : {}),
  };
}
