// What a finished batch would have taken and cost with other limits or on another GPU.

import { DEFAULT_PRICES } from '../../options/gpu.ts';
import { refuseTooMany } from '../../create-batch/check-request.ts';
import { list, nearest, problem } from '../../errors/error.ts';
import { readEvents } from '../../results/event-files.ts';
import { readPastRuns } from '../../results/past-runs.ts';
import { readSummary } from '../../results/summary.ts';
import { readMeasured, type MeasuredBatch } from '../../results/what-if/measured-batch.ts';
import { UnknownGpu, whatIf, type Change, type WhatIf } from '../../results/what-if/what-if.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import { limitChangeOf, type Limits } from '../start/given-limits.ts';

/** What is different in the replay. */
export type WhatIfOptions = {
  /** The maximum number of runs at the same time. */
  readonly concurrency?: number;
  /** The maximum number of runs at the same time by GPU. */
  readonly gpuConcurrency?: NonNullable<Limits['gpuConcurrency']>;
  /** The maximum number of runs that start in a minute. */
  readonly startsPerMinute?: number;
  /** How often a row is sent again, as for a new batch. */
  readonly retries?: NonNullable<Limits['retries']>;
  /** All rows on this GPU. */
  readonly gpu?: string;
};

/** A batch, and how it was replayed. */
export type Replay = {
  readonly found: FoundBatch;
  readonly change: Change;
  readonly answer: WhatIf;
  /** Whether pauses or commands of users had a part in its time. */
  readonly wasSteered: boolean;
};

/** Throws E602 for a change that cannot be. */
export function changeOf({ gpu, ...limits }: WhatIfOptions): Change {
  const { concurrency, retries, retriesByKind, startsPerMinute, gpuConcurrency } = limitChangeOf(limits);
  return changed({ concurrency, retries, retriesByKind, startsPerMinute, gpuConcurrency, gpu });
}

/** Without what is not given. */
export const changed = (all: { readonly [K in keyof Required<Change>]: Change[K] | undefined }): Change =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));

/** Throws E602 for a batch that cannot be replayed. */
export async function replayOf(out: string, found: FoundBatch, change: Change): Promise<Replay> {
  const { batch, file, store } = found;
  if (file.sheet.options.ladder !== undefined)
    throw problem('E602', {
      what: `batch ${batch} has a ladder, so it cannot be replayed`,
      hint: 'its summary.json says what climbing cost: "climbing"',
    });
  const summary = await readSummary(store);
  if (summary === undefined)
    throw problem('E602', {
      what: `batch ${batch} has not ended, so it cannot be replayed yet`,
      hint: `wait for its end: runsheet wait ${batch}`,
    });
  refuseUnknownGpu(change.gpu, file.service.prices);
  const measured = await readMeasured(store, file, summary);
  refuseTooMany({
    concurrency: change.concurrency,
    retries: change.retries ?? file.retries,
    retriesByKind: { ...file.retriesByKind, ...change.retriesByKind },
    resubmits: file.unconfirmed.rule === 'resubmit',
  });
  const answer = await answerOf(out, found, measured, change);
  return { found, change, answer, wasSteered: await wasSteered(found) };
}

function refuseUnknownGpu(gpu: string | undefined, prices: Readonly<Record<string, number>>): void {
  const known = [...new Set([...Object.keys(DEFAULT_PRICES), ...Object.keys(prices)])];
  if (gpu === undefined || known.includes(gpu)) return;
  const near = nearest(gpu, known);
  throw problem('E602', {
    what: `${gpu} is no GPU with a known price`,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}GPUs: ${list(known)}`,
  });
}

async function answerOf(
  out: string,
  { batch, file }: FoundBatch,
  measured: MeasuredBatch,
  change: Change,
): Promise<WhatIf> {
  const isTimed = measured.rows.some(({ attempts }) => attempts.some(({ times }) => times !== undefined));
  if (!isTimed)
    throw problem('E602', {
      what: `the results of ${batch} name no times of runs, so it cannot be replayed`,
      hint: `show what they have: runsheet rows ${batch}`,
    });
  const { samples } =
    change.gpu === undefined
      ? { samples: [] }
      : await readPastRuns(out, {
          deployment: file.deployment.id,
          base: file.service.base,
          gpus: [change.gpu],
        });
  try {
    return whatIf(measured, change, samples);
  } catch (error) {
    if (!(error instanceof UnknownGpu)) throw error;
    throw problem('E602', {
      what: error.message,
      hint: 'measure it with a few rows: run the sheet with --gpu <gpu> --limit 5 --again',
    });
  }
}

/** Whether pauses or commands of users had a part in its time. */
async function wasSteered({ store }: FoundBatch): Promise<boolean> {
  for await (const _ of readEvents(store)) return true;
  return false;
}
