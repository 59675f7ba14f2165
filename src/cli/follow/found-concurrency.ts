// Texts about the concurrency that `-c auto` found.

import type { UsefulConcurrency } from '../../batch/useful-concurrency.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { Summary } from '../../results/summary.ts';
import { count } from '../../options/text/printed-numbers.ts';
import type { ShownProgress } from '../../library/handle/batch-status.ts';

type ShownConcurrency = Pick<ShownProgress, 'useful' | 'concurrency'>;

/** `concurrency 14 found, at most 256`; undefined without -c auto. */
export function foundText({ useful, concurrency }: ShownConcurrency): string | undefined {
  if (useful === undefined) return undefined;
  const texts = useful.map((entry) => `${useful.length > 1 ? `${gpuOf(entry)} ` : ''}${basisText(entry)}`);
  return `concurrency ${terminalLine(texts.join(', '))}, at most ${count(concurrency)}`;
}

const gpuOf = ({ gpu = 'default GPU' }: UsefulConcurrency): string => gpu;

const BASIS = {
  found: 'found',
  searching: 'so far',
  untimed: 'without queueing times, so only 429 changes it',
} as const;

const basisText = ({ concurrency, basis }: UsefulConcurrency) => `${count(concurrency)} ${BASIS[basis]}`;

export const allowedNow = ({ slots, concurrency }: Pick<ShownProgress, 'slots' | 'concurrency'>): number =>
  slots ?? concurrency;

export const usefulLines = ({ useful_concurrency: useful = [] }: Summary): readonly string[] =>
  useful.map((entry) => `  ${terminalLine(endText(entry, useful.length > 1))}`);

type Useful = NonNullable<Summary['useful_concurrency']>[number];

function endText(useful: Useful, isOneOfSeveral: boolean): string {
  const { gpu, concurrency, basis } = useful;
  const number = count(concurrency);
  const on = gpu === null ? '' : ` on ${gpu}`;
  if (basis === 'found') return `useful concurrency${on}: ${number}${advice(useful, isOneOfSeveral)}`;
  return basis === 'searching'
    ? `useful concurrency${on}: not found; up to ${number}, no run queued for long`
    : `useful concurrency${on}: unknown, because the service shows no queueing times; ${number} was used`;
}

/** `--gpu-concurrency` limits only rows that name the GPU, so the default GPU gets no advice. */
function advice({ gpu, concurrency, is_default: isDefault }: Useful, isOneOfSeveral: boolean): string {
  if (!isOneOfSeveral) return `; next time give -c ${concurrency}`;
  return isDefault ? ' (default GPU)' : `; next time give --gpu-concurrency ${gpu}=${concurrency}`;
}
