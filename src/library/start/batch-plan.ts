// What a sheet would become, without sending anything.

import type { DraftBatch, EarlierBatches } from '../../create-batch/create-batch.ts';
import type { Proposal } from '../../create-batch/propose.ts';
import { questionText, type Question } from '../../create-batch/questions.ts';
import { queueToWire } from '../../run-service/contract/queue.ts';
import { cacheRows } from '../../sheet/placed-rows.ts';
import type { BatchOptions } from './batch-options.ts';
import { estimateOf, type Estimate } from './estimate.ts';
import type { Source } from './given-source.ts';
import type { Servers } from '../servers.ts';
import { proposed } from './start-batch.ts';

/** What a sheet would become. */
export type Plan = {
  /** The batch that `start` would make. */
  readonly batchId: string;
  /** The number of rows. */
  readonly rows: number;
  /** Rows by the GPU that they ask for; '' for rows that name none. */
  readonly gpus: Readonly<Record<string, number>>;
  /** The most runs at the same time. */
  readonly concurrency: number;
  /** Cost and time, each with an interval of 90 %. */
  readonly estimate: Estimate;
  /** What earlier batches have of these rows. */
  readonly earlier: EarlierBatches;
  /** What `start` would have to be told by its options. */
  readonly questions: readonly { readonly id: Question['id']; readonly text: string }[];
  /** The numbers of the rows that are sent first. */
  readonly canary?: readonly number[];
  /** The first requests, as they would be sent. */
  readonly requests: readonly object[];
};

/** Throws the errors of `start` about the sheet and the options. */
export function planOf(servers: Servers, source: Source, options: BatchOptions): Promise<Plan> {
  return proposed(servers, source, options, true, async (proposal) => {
    const { questions, earlier } = proposal;
    const draft = await draftOf(proposal);
    const { batch, file, laidOut, canary } = draft;
    return {
      batchId: batch,
      rows: file.sheet.rows,
      gpus: laidOut.gpus,
      concurrency: file.concurrency,
      estimate: await estimateOf(servers.config.out, { file, laidOut }),
      earlier,
      questions: questions.map((question) => ({ id: question.id, text: questionText(question) })),
      ...(canary && { canary }),
      requests: await firstRequests(draft),
    };
  });
}

/** A plan buys nothing, so its guesses need no confirmation; what they make impossible is thrown. */
export async function draftOf(proposal: Proposal): Promise<DraftBatch> {
  if (proposal.draft === undefined) await proposal.with({ answers: { guesses: 'accept' } });
  return proposal.draft as DraftBatch;
}

const SHOWN_REQUESTS = 3;

export async function firstRequests({ file, layout }: DraftBatch): Promise<readonly object[]> {
  const { reused = 0, rows: all } = file.sheet;
  const places = Array.from({ length: Math.min(SHOWN_REQUESTS, all - reused) }, (_, at) => at + 1);
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
