// A batch before it exists: holds its stages and the user's decisions, and recomputes the stages that an answer changes. Nothing is
// sent. The caller disposes of it.

import type { BatchFolder } from '../store/batch-folders.ts';
import { newMark, type DraftBatch } from './laid-out-sheet.ts';
import { saidIfSlow } from './long-comparison.ts';
import { makeBatch, type CreatedBatch } from './make-batch.ts';
import {
  aboutGuesses,
  manyRows,
  otherGpu,
  outsideFiles,
  QuestionsOpen,
  unanswered,
  type Answers,
  type EarlierBatches,
  type Question,
  type RowsElsewhere,
} from './questions.ts';
import { settleQueue } from './queue-pages.ts';
import type { Overlap } from './reuse/matched-rows.ts';
import {
  budgeted,
  compareBatch,
  draftBatch,
  settleBatch,
  withCopy,
  withLimit,
  type ComparedBatch,
  type CreateParams,
  type Decided,
  type Drafted,
  type SettledBatch,
} from './draft-stages.ts';

export class NewBatch implements Disposable {
  #params: CreateParams;
  #decided: Decided;
  #drafted: Drafted;
  #compared: ComparedBatch | undefined;
  #settled: SettledBatch | undefined;
  /** The queue of the sheet was rewritten for a batch that was then not created. */
  #isQueueLost = false;

  private constructor(params: CreateParams, decided: Decided, drafted: Drafted) {
    [this.#params, this.#decided, this.#drafted] = [params, decided, drafted];
  }

  /** Throws the errors of the sheet, and lists all of them in `<sheet>-errors.csv`. */
  static async of(params: CreateParams): Promise<NewBatch> {
    const decided = { answers: params.answers ?? {}, again: params.again };
    const batch = new NewBatch(params, decided, await draftBatch(params, decided));
    try {
      await batch.#compare();
      return batch;
    } catch (error) {
      batch[Symbol.dispose]();
      throw error;
    }
  }

  /** The batch that has the same rows. */
  get same(): BatchFolder | undefined {
    return this.#compared?.same;
  }

  /** The batch to create; undefined if the sheet can only be laid out with other guesses. */
  get draft(): DraftBatch | undefined {
    return this.#settled?.finalDraft;
  }

  get earlier(): EarlierBatches {
    const { same, overlap } = this.#compared ?? {};
    if (same !== undefined) return { same: same.batch };
    if (overlap === undefined) return {};
    const { done, open, unknown, undelivered, moved } = overlap;
    return { done, open, unknown, undelivered, ...(moved.done.length > 0 && { moved }) };
  }

  /** The marks of the batches that the rows were compared with. */
  get compared(): ComparedBatch['compared'] {
    return this.#compared?.compared ?? new Map();
  }

  get questions(): readonly Question[] {
    const stages = { drafted: this.#drafted, compared: this.#compared, settled: this.#settled };
    return questionsOf(this.#params.copy.name, stages, this.#decided.answers);
  }

  /** Adds answers and recomputes the stages that they change. Throws the errors that this reveals. */
  async answer(answers: Answers, again = this.#decided.again): Promise<void> {
    const before = this.#decided;
    this.#decided = { answers: { ...before.answers, ...answers }, again };
    const { draft, failure } = this.#drafted;
    if (failure !== undefined && this.#decided.answers.guesses === 'accept') throw failure;
    if (draft === undefined) return;
    if (again !== before.again) await this.#compareAgain();
    else if (isOther(before.answers, this.#decided.answers)) await this.#settle();
  }

  /** Applies a new cost limit, which changes no row. */
  async limit(maxCostNano: number): Promise<void> {
    this.#params = { ...this.#params, settings: { ...this.#params.settings, maxCostNano } };
    this.#replaceDrafts((draft) => withLimit(draft, maxCostNano));
    this.#settled &&= await budgeted(this.#params, this.#settled.finalDraft);
  }

  /** Takes the copy of the sheet in which addresses have replaced marks, which changes no row. */
  takeCopy(copy: CreateParams['copy']): void {
    this.#params = { ...this.#params, copy };
    this.#replaceDrafts((draft) => withCopy(draft, copy));
  }

  #replaceDrafts(change: (draft: DraftBatch) => DraftBatch): void {
    const { draft } = this.#drafted;
    if (draft !== undefined) this.#drafted = { ...this.#drafted, draft: change(draft) };
    this.#compared &&= { ...this.#compared, draft: change(this.#compared.draft) };
    this.#settled &&= { ...this.#settled, finalDraft: change(this.#settled.finalDraft) };
  }

  /** Adds batches in other places that only the cluster knows. */
  addElsewhere(batches: readonly RowsElsewhere[]): void {
    this.#compared &&= { ...this.#compared, elsewhere: [...this.#compared.elsewhere, ...batches] };
  }

  /** Creates the batch, or finds a batch of the same rows. Throws {@link QuestionsOpen}, also for a question that a faster command has raised. */
  async carryOut(): Promise<CreatedBatch> {
    for (;;) {
      if (this.same !== undefined) return { ...this.same, laidOut: undefined };
      const [questions, compared, settled] = [this.questions, this.#compared, this.#settled];
      if (questions.length > 0 || compared === undefined || settled === undefined)
        throw new QuestionsOpen(questions);
      this.#isQueueLost = await settleQueue(settled.finalDraft.layout);
      const made = await makeBatch({ params: this.#params, compared, decided: this.#decided }, settled);
      if (made !== 'overtaken') return made;
      this.#params.onComparing?.('overtaken');
      this.#takeBackAgain();
      await this.#compareAgain();
    }
  }

  [Symbol.dispose](): void {
    this.#compared?.overlap?.[Symbol.dispose]();
    this.#compared = undefined;
  }

  /** Withdraws the consent to buy rows again, which the user gave before the other batch existed. */
  #takeBackAgain(): void {
    const { earlier, ...answers } = this.#decided.answers;
    if (earlier === 'again' && answers.open !== 'again') this.#decided = { ...this.#decided, answers };
  }

  /** Compares the same layout again under a new mark, because others may have seen the batch under the old one. */
  async #compareAgain(): Promise<void> {
    if (this.#isQueueLost) this.#drafted = await draftBatch(this.#params, this.#decided);
    this.#isQueueLost = false;
    const { draft } = this.#drafted;
    if (draft === undefined) return;
    this.#drafted = { ...this.#drafted, draft: { ...draft, file: { ...draft.file, mark: newMark() } } };
    this[Symbol.dispose]();
    await this.#compare();
  }

  async #compare(): Promise<void> {
    const { draft } = this.#drafted;
    if (draft === undefined) return;
    this.#compared = await saidIfSlow(this.#params.onComparing, () =>
      compareBatch(this.#params, draft, this.#decided),
    );
    await this.#settle();
  }

  async #settle(): Promise<void> {
    const compared = this.#compared as ComparedBatch;
    this.#settled = await settleBatch(this.#params, compared, this.#decided, this.#settled);
  }
}

type Stages = {
  readonly drafted: Drafted;
  readonly compared: ComparedBatch | undefined;
  readonly settled: SettledBatch | undefined;
};

/** The open questions about a sheet called `name`. */
function questionsOf(
  name: string,
  { drafted: { agreed, draft, failure }, compared, settled }: Stages,
  answers: Answers,
): readonly Question[] {
  if (compared?.same !== undefined) return [];
  const guesses = draft?.laidOut.guesses ?? agreed.guesses;
  const isRefused = agreed.problems.length > 0;
  const questions: Question[] = isRefused
    ? []
    : [...aboutGuesses(name, guesses, { refused: failure, isChangeable: true })];
  if (settled !== undefined) {
    const { file, laidOut } = settled.finalDraft;
    const elsewhere = compared?.elsewhere ?? [];
    questions.push(...aboutEarlier(compared?.overlap, answers));
    if (elsewhere.length > 0) questions.push({ id: 'elsewhere', rows: file.sheet.rows, others: elsewhere });
    questions.push(...outsideFiles(name, laidOut.files), ...manyRows(file), ...otherGpu(file, laidOut.gpus));
    if (settled.budget !== undefined) questions.push({ id: 'lowBudget', ...settled.budget });
  }
  return unanswered(questions, answers);
}

const isOther = (before: Answers, now: Answers): boolean =>
  now.earlier !== before.earlier || now.moved !== before.moved;

function aboutEarlier(overlap: Overlap | undefined, answers: Answers): readonly Question[] {
  if (overlap === undefined) return [];
  const { rows, open, done, unknown, undelivered, moved } = overlap;
  if (open.length > 0 && answers.open !== 'again') return [{ id: 'open', open }];
  return [
    ...(undelivered.length > 0 ? [{ id: 'undelivered', rows, undelivered } as const] : []),
    ...(done.length + unknown.length > 0 ? [{ id: 'earlier', rows, done, unknown } as const] : []),
    ...(moved.done.length > 0 && answers.earlier !== 'again'
      ? [{ id: 'moved', rows, ...moved } as const]
      : []),
  ];
}
