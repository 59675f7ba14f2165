// Plans the batch of a sheet without sending anything.

import type { BatchRequest } from '../../batches/batch-request.ts';
import type { CreatedBatch } from '../../batches/make-batch.ts';
import type { DraftBatch } from '../../batches/laid-out-sheet.ts';
import { propose, type ProposalSource as Rows } from '../../batches/propose.ts';
import { earlierNotes, ignoredText, questionText } from '../../batches/question-texts.ts';
import { ignoredGpus, statedAnswers, type EarlierBatches, type Question } from '../../batches/questions.ts';
import type { Config } from '../../host/settings/config.ts';
import { queueToWire } from '../../service-client/contract/queue.ts';
import { canReachReceiver } from '../../host/local-address.ts';
import { temporalFrom } from '../../temporal/temporal-address.ts';
import { cacheRows } from '../../sheet/placed-rows.ts';
import type { RefusedRows } from '../../sheet/refused-rows.ts';
import { estimateOf, type Estimate } from '../../results/estimate.ts';
import type { Source, BatchOptions } from './program-rows.ts';
import { countToSend } from '../../store/batch-file.ts';
import type { Servers } from '../servers.ts';
import { proposed, type Callbacks } from './start-batch.ts';

/** The plan of a batch. */
export type Plan = {
  /** The batch that `start` would make. */
  readonly batchId: string;
  /** The number of rows. */
  readonly rows: number;
  /** With `invalid: 'skip'`: the rows that cannot be read and are not sent, and the first ten of them. */
  readonly refused?: RefusedRows;
  /** Rows by the GPU that they ask for; '' for rows that name none. */
  readonly gpus: Readonly<Record<string, number>>;
  /** The most runs at the same time. */
  readonly concurrency: number;
  /** Cost and time, each with an interval of 90 %. */
  readonly estimate: Estimate;
  /** Rows that earlier batches already have. */
  readonly earlier: EarlierBatches;
  /** The questions that `start` needs answered by its options. */
  readonly questions: readonly AskedQuestion[];
  /** The numbers of the rows that are sent first. */
  readonly canary?: readonly number[];
  /** The first requests as they would be sent, each as JSON: a number may have more digits than a program keeps. */
  readonly requests: readonly string[];
};

/** A question in words, with the answers that a command or a program can state in advance. */
export type AskedQuestion = {
  readonly id: Question['id'];
  readonly text: string;
  readonly answers: readonly StatedAnswer[];
};

type StatedAnswer = {
  /** The effect; null for the only answer to a yes-or-no question. */
  readonly text: string | null;
  /** The words that a command adds. */
  readonly flags: readonly string[];
  /** The members that a program adds to its options. */
  readonly option: string;
};

export const inWords = (questions: readonly Question[]): readonly AskedQuestion[] =>
  questions.map((question) => ({
    id: question.id,
    text: questionText(question),
    answers: statedAnswers(question).map(({ text = null, flags, option }) => ({
      text,
      flags: flags.flat(),
      option,
    })),
  }));

/** Throws the errors of `start` about sheet and options. */
export function planOf(servers: Servers, source: Source, options: BatchOptions): Promise<Plan> {
  return proposed(servers, source, options, async (request, rows) => {
    await using planned = await planBatch(servers, request, rows);
    const { draft, estimate, earlier, questions, requests } = planned;
    const { batch, file, laidOut, canary } = draft;
    return {
      batchId: batch,
      rows: file.sheet.rows,
      ...(laidOut.refused && { refused: laidOut.refused }),
      gpus: laidOut.gpus,
      concurrency: file.concurrency,
      estimate,
      earlier,
      questions,
      ...(canary && { canary }),
      requests: requests.map((sent) => JSON.stringify(sent)),
    };
  });
}

export type Planned = AsyncDisposable & {
  readonly draft: DraftBatch;
  readonly estimate: Estimate;
  readonly earlier: EarlierBatches;
  /** Remarks on the rows. */
  readonly notes: readonly string[];
  readonly questions: readonly AskedQuestion[];
  readonly open: readonly Question[];
  readonly requests: readonly object[];
  /** The batch whose results the sheet has. */
  readonly ofBatch: string | undefined;
};

/** A plan buys nothing, so guesses are accepted; errors that they cause are thrown. */
export async function planBatch(
  servers: Servers,
  request: BatchRequest,
  rows: Rows,
  callbacks: Callbacks = {},
): Promise<Planned> {
  const around = { ...servers.around(request.service), listsErrors: false, ...callbacks, isPlan: true };
  const proposal = await propose(request, rows, around);
  try {
    const { questions, earlier, ofBatch } = proposal;
    if (proposal.draft === undefined) await proposal.with({ answers: { guesses: 'accept' } });
    const draft = proposal.draft as DraftBatch;
    return {
      draft,
      estimate: await estimateOf(servers.config.out, draft),
      earlier,
      notes: earlierNotes(earlier, draft.file.sheet),
      questions: inWords(questions),
      open: questions,
      requests: await firstRequests(draft),
      ofBatch: ofBatch?.batch,
      [Symbol.asyncDispose]: () => proposal[Symbol.asyncDispose](),
    };
  } catch (error) {
    await proposal[Symbol.asyncDispose]();
    throw error;
  }
}

const SHOWN_REQUESTS = 3;

async function firstRequests({ file, layout }: DraftBatch): Promise<readonly object[]> {
  const places = Array.from({ length: Math.min(SHOWN_REQUESTS, countToSend(file.sheet)) }, (_, at) => at + 1);
  const rows = await cacheRows(SHOWN_REQUESTS)(layout, file.sheet, places);
  return [...rows].map(([place, row]) =>
    queueToWire({
      deploymentId: file.deployment.id,
      inputs: row.inputs,
      gpu: row.gpu,
      webhook: `…/hook/2/${file.batch}/${file.mark}/${place}/1/…`,
    }),
  );
}

export function factsOf(
  config: Config,
  { file, laidOut }: Pick<CreatedBatch, 'file' | 'laidOut'>,
): {
  /** Whether webhooks are wanted and can arrive; assumed on a cluster, whose workers have their own settings. */
  readonly hasWebhooks: boolean;
  /** A warning that the service may ignore the GPUs of rows. */
  readonly ignoredGpus: string | undefined;
} {
  const ignored = laidOut && ignoredGpus(file, laidOut.gpus);
  const canArrive =
    temporalFrom(config.environment) !== undefined || canReachReceiver(file.service.base, config.webhook.url);
  return {
    hasWebhooks: file.webhooks && canArrive,
    ignoredGpus: ignored && ignoredText(ignored),
  };
}
