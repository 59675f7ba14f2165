// plan --what-if: what a finished batch would have taken and cost with other limits or on another GPU.

import { DEFAULT_PRICES } from '../batch/gpu.ts';
import { mostRetries } from '../batch/failure-kind.ts';
import { EXIT, list, nearest, problem } from '../errors/error.ts';
import { readEvents } from '../results/event-files.ts';
import { readPastRuns } from '../results/past-runs.ts';
import { readSummary } from '../results/summary.ts';
import { readMeasured, type MeasuredBatch } from '../results/what-if/measured-batch.ts';
import { UnknownGpu, whatIf, type Change, type WhatIf } from '../results/what-if/what-if.ts';
import { findBatch, type FoundBatch } from '../library/found-batch.ts';
import { configOf, limitsOf, refuseTooMany } from './batch-options.ts';
import { printerFor, type Context } from './context.ts';
import type { SheetFlags } from './flags.ts';
import { whatIfJson, whatIfLines, type Replay } from './what-if-text.ts';

type Flags = SheetFlags & { readonly whatIf: string };

/** Flags that a replay understands. */
const KNOWN: ReadonlySet<string> = new Set([
  'whatIf',
  'concurrency',
  'retries',
  'retry',
  'rate',
  'gpuConcurrency',
  'gpu',
  'out',
  'quiet',
  'output',
]);

export async function whatIfOf(context: Context, flags: Flags, sheet: string | undefined): Promise<number> {
  refuseOthers(flags, sheet);
  const printer = printerFor(context, flags);
  const { out } = configOf(flags);
  const found = await findBatch(out, flags.whatIf);
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
  refuseUnknownGpu(flags.gpu, file.service.prices);
  const measured = await readMeasured(store, file, summary);
  const retries = mostRetries({
    retries: flags.retries ?? file.retries,
    retriesByKind: { ...file.retriesByKind, ...flags.retry },
  });
  refuseTooMany(limitsOf(flags).concurrency, retries, file.unconfirmed.rule === 'resubmit');
  const change = changeOf(flags);
  const answer = await answerOf(out, found, measured, change);
  const replay: Replay = { found, change, answer, wasSteered: await wasSteered(found) };
  if (flags.output === 'json') printer.json(whatIfJson(replay));
  else for (const line of whatIfLines(replay)) printer.data(line);
  return EXIT.ok;
}

function refuseOthers(flags: Flags, sheet: string | undefined): void {
  if (sheet !== undefined)
    throw problem('E602', {
      what: '--what-if replays a batch, so it takes no sheet',
      hint: `runsheet plan --what-if ${flags.whatIf} -c <n>`,
    });
  if (typeof flags.concurrency === 'object')
    throw problem('E602', {
      what: '--what-if does not take -c auto',
      hint: 'give a number: it says from how many slots on runs only queue',
    });
  const others = Object.entries(flags).flatMap(([name, value]) =>
    KNOWN.has(name) || value === undefined || value === false ? [] : [flagName(name)],
  );
  if (others.length > 0)
    throw problem('E602', {
      what: `--what-if does not take ${list(others)}`,
      hint: `it takes: ${list([...KNOWN].filter((name) => name !== 'whatIf').map(flagName))}`,
    });
}

const flagName = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function refuseUnknownGpu(gpu: string | undefined, prices: Readonly<Record<string, number>>): void {
  const known = [...new Set([...Object.keys(DEFAULT_PRICES), ...Object.keys(prices)])];
  if (gpu === undefined || known.includes(gpu)) return;
  const near = nearest(gpu, known);
  throw problem('E602', {
    what: `--gpu ${gpu} names no GPU with a known price`,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}GPUs: ${list(known)}`,
  });
}

function changeOf(flags: Flags): Change {
  const { concurrency, retries, retriesByKind, startsPerMinute, gpuConcurrency } = limitsOf(flags);
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(retries === undefined ? {} : { retries }),
    ...(retriesByKind === undefined ? {} : { retriesByKind }),
    ...(startsPerMinute === undefined ? {} : { startsPerMinute }),
    ...(gpuConcurrency === undefined ? {} : { gpuConcurrency }),
    ...(flags.gpu === undefined ? {} : { gpu: flags.gpu }),
  };
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
    throw problem('E602', { what: error.message, hint: 'measure it with a few rows: --gpu <gpu> --limit 5' });
  }
}

/** Whether pauses or commands of users had a part in its time. */
async function wasSteered({ store }: FoundBatch): Promise<boolean> {
  for await (const _ of readEvents(store)) return true;
  return false;
}
