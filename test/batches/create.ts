// Creates batches without the test runner, also for child processes.

import { Readable } from 'node:stream';
import { withCopy } from '../../src/batches/copy-sheet.ts';
import { NewBatch } from '../../src/batches/new-batch.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import type { CreateParams } from '../../src/batches/draft-stages.ts';
import type { DraftBatch } from '../../src/batches/laid-out-sheet.ts';
import { refusal } from '../../src/batches/question-texts.ts';
import { asOption, QuestionsOpen, type EarlierBatches } from '../../src/batches/questions.ts';
import { deploymentSchema } from '../../src/service-client/contract/deployment.ts';

/** Buys every row, unless a test says otherwise. */
export const ASKED: Omit<CreateParams, 'copy' | 'out'> = {
  options: { map: {}, set: {}, drop: [], types: {} },
  order: {},
  deployment: deploymentSchema.parse({ id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' }),
  service: { base: 'local', api: 'v2', rehearsal: true, timing: undefined, prices: {} },
  settings: { retries: 0, deadlines: { queueMs: 86_400_000 }, webhooks: true },
  answers: { earlier: 'again', open: 'again', undelivered: 'again' },
  again: false,
};

type Shared = Required<Omit<EarlierBatches, 'same' | 'moved'>> & { readonly rows: number };

export type CreationParams = Partial<typeof ASKED> & {
  /** Decides about rows that earlier batches have. */
  readonly decide?: (shared: Shared) => Promise<'reuse' | 'again'>;
};

/** Throws the error of the first open question. */
export async function createBatch({
  decide,
  ...params
}: CreateParams & Pick<CreationParams, 'decide'>): Promise<CreatedBatch> {
  using proposed = await NewBatch.of(decide === undefined ? params : { ...params, answers: {} });
  const { done = [], open = [], unknown = [], undelivered = [], same } = proposed.earlier;
  if (decide !== undefined && same === undefined && done.length + open.length + unknown.length > 0) {
    const rows = proposed.draft?.file.sheet.rows ?? 0;
    const decided = await decide({ rows, done, open, unknown, undelivered });
    await proposed.answer({ earlier: decided, open: 'again' });
  }
  try {
    return await proposed.carryOut();
  } catch (error) {
    throw error instanceof QuestionsOpen ? refusal(error.questions, asOption) : error;
  }
}

/** The batch that would be created. Throws the error of unconfirmed guesses. */
export async function draftOf(params: CreateParams): Promise<DraftBatch> {
  using proposed = await NewBatch.of(params);
  const open = proposed.questions.filter(({ id }) => id === 'guesses');
  if (open.length > 0 || proposed.draft === undefined) throw refusal(open, asOption);
  return proposed.draft;
}

/** A batch of the sheet at `path` in the folder `out`. */
export const create = (path: string, out: string, params: CreationParams = {}): Promise<CreatedBatch> =>
  withCopy(path, { out, stdin: Readable.from([]) }, (copy) =>
    createBatch({ ...ASKED, ...params, copy, out }),
  );
