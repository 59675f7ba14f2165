// Settles a proposal: asks every open question, or refuses it with an error that names the answer, then carries the proposal out.

import type { RunsheetError } from '../errors/error.ts';
import { guessesRefused } from '../sheet/guesses/guess.ts';
import { questionText, refusal } from './question-texts.ts';
import {
  offeredAnswers,
  QuestionsOpen,
  type QuestionAnswer,
  type Patch,
  type Question,
  type Wording,
} from './questions.ts';

/** A proposal that can be carried out once no question is open. */
export type Proposed<T> = {
  readonly questions: readonly Question[];
  /** Shown to the user; a new object after answers have changed it. */
  readonly shown: unknown;
  with(...patches: readonly Patch[]): Promise<unknown>;
  /** Throws {@link QuestionsOpen}, also for a question that has come up since. */
  carryOut(): Promise<T>;
};

export type Policy = {
  /** Writes an answer for a command or a program. */
  readonly wording: Wording;
  /** Asks the user, who may decline. Without `ask`, every question is refused. */
  readonly ask?: (
    question: Question,
    text: string,
    answers: readonly QuestionAnswer[],
  ) => Promise<QuestionAnswer | undefined>;
  /** Shows the proposal before the first question, or else before it is carried out. */
  readonly show?: () => Promise<void>;
  /** Called once every question is answered, before the batch is created. */
  readonly before?: () => Promise<unknown>;
  /** Replaces the composed error. */
  readonly refused?: (composed: RunsheetError, questions: readonly Question[]) => Error;
};

/** Carries the proposal out once every question is answered. Throws the error of the first question without an answer. */
export async function settle<T>(
  proposal: Proposed<T>,
  policy: Policy,
): Promise<T | { readonly into: string }> {
  let shown: unknown;
  const show = async (): Promise<void> => {
    if (proposal.shown === undefined || proposal.shown === shown) return;
    ({ shown } = proposal);
    await policy.show?.();
  };
  let { questions } = proposal;
  for (;;) {
    if (questions.length > 0) {
      if (policy.ask !== undefined && questions.every(mayAsk)) await show();
      const patches = await answersBy(policy, questions);
      const into = patches.find((patch) => 'into' in patch);
      if (into !== undefined) return into;
      await proposal.with(...patches);
      ({ questions } = proposal);
      continue;
    }
    await show();
    await policy.before?.();
    try {
      return await proposal.carryOut();
    } catch (error) {
      if (!(error instanceof QuestionsOpen)) throw error;
      ({ questions } = error);
    }
  }
}

const mayAsk = (question: Question): boolean => offeredAnswers(question).length > 0;

/** Asks the open questions in order. Throws the error of the first one that is declined or cannot be asked. */
async function answersBy(
  { wording, ask, refused: own = (composed) => composed }: Policy,
  questions: readonly Question[],
): Promise<readonly Patch[]> {
  const refused = (first: Question): Error => {
    const firstThenOthers = [first, ...questions.filter((question) => question !== first)];
    return own(refusal(firstThenOthers, wording), firstThenOthers);
  };
  const unasked = questions.find((question) => ask === undefined || !mayAsk(question));
  if (unasked?.id === 'guesses' && unasked.refused !== undefined) throw unasked.refused;
  if (unasked !== undefined || ask === undefined) throw refused(unasked as Question);
  const patches: Patch[] = [];
  for (const question of questions) {
    const answer = await ask(question, questionText(question), offeredAnswers(question));
    if (answer === undefined && question.id === 'guesses')
      throw guessesRefused(question.sheet, question.guesses, { isDeclined: true });
    if (answer === undefined) throw refused(question);
    patches.push(answer.with);
  }
  return patches;
}
