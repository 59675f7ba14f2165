// How a door comes from a proposal to what it proposes: everything that has to be decided is asked, or refused with what answers it.

import type { RunsheetError } from '../errors/error.ts';
import { guessesRefused } from '../sheet/guesses/guess.ts';
import { questionText, refusal } from './question-texts.ts';
import {
  answersOf,
  isAsked,
  QuestionsOpen,
  type Answer,
  type PossibleAnswers,
  type Patch,
  type Question,
  type Wording,
} from './questions.ts';

/** What is proposed, and carried out once no question is open. */
export type Proposed<T> = {
  readonly questions: readonly Question[];
  /** What there is to show; another one when answers have changed it. */
  readonly shown: unknown;
  with(...patches: readonly Patch[]): Promise<unknown>;
  /** Throws {@link QuestionsOpen}, also if a question has come up meanwhile. */
  carryOut(): Promise<T>;
};

export type Policy = {
  /** How it writes an answer down. */
  readonly wording: Wording;
  /** Asks its user, who may decline; without it, every question is refused. */
  readonly ask?: (question: Question, text: string, answers: PossibleAnswers) => Promise<Answer | undefined>;
  /** Shows what is proposed: before its user is asked, else before it is carried out. */
  readonly show?: () => Promise<void>;
  /** Called when all is answered, before the batch is made. */
  readonly before?: () => Promise<unknown>;
  /** The error of a door of its own. */
  readonly refused?: (composed: RunsheetError, questions: readonly Question[]) => Error;
};

/** Carries the proposal out when all is answered. Throws the error of the first question without an answer. */
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
      if (policy.ask !== undefined && questions.every(isAsked)) await show();
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

/** What is decided about all open questions. */
async function answersBy(
  { wording, ask, refused: own = (composed) => composed }: Policy,
  questions: readonly Question[],
): Promise<readonly Patch[]> {
  const refused = (first: Question): Error => {
    const all = [first, ...questions.filter((one) => one !== first)];
    return own(refusal(all, wording), all);
  };
  const unasked = questions.find((one) => ask === undefined || !isAsked(one));
  if (unasked?.id === 'guesses' && unasked.refused !== undefined) throw unasked.refused;
  if (unasked !== undefined || ask === undefined) throw refused(unasked as Question);
  const patches: Patch[] = [];
  for (const question of questions) {
    const answer = await ask(question, questionText(question), answersOf(question));
    if (answer === undefined && question.id === 'guesses')
      throw guessesRefused(question.sheet, question.guesses, { isDeclined: true });
    if (answer === undefined) throw refused(question);
    patches.push(answer.with);
  }
  return patches;
}
