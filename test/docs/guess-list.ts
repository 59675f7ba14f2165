// Lists the guesses about sheets for the documents.

import type { Guessed } from './guessed.ts';
import { GUESSES } from './guesses.ts';

/** Lists the guesses, grouped by how runsheet handles them. */
export const guessList = (): string => {
  const of = (does: Guessed['does']): readonly string[] =>
    GUESSES.filter((guess) => guess.does === does).map(({ found: finding, means, code, flag }) => {
      const answer = flag === '' ? '' : ` (\`${flag}\`)`;
      return `- ${finding}${means === '' ? '' : `: ${means}`}${code === undefined ? '' : ` (${code})`}${answer}.`;
    });
  return [
    '**Printed**, with the flag that says the same:',
    '',
    ...of('said'),
    '',
    '**Asked**, or answered by the flag:',
    '',
    ...of('asked'),
    '',
    '**Refused**:',
    '',
    ...of('refused'),
    '',
  ].join('\n');
};
