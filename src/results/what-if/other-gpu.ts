// Moves all rows of a batch to another GPU: their runs take as many times as long as the ratio says.

import type { Sample } from '../forecast/sample.ts';
import { startsOf, type Starts } from './cold-starts.ts';
import type { GpuRatio } from './gpu-ratio.ts';
import type { MeasuredAttempt, MeasuredRow } from './measured-batch.ts';
import type { ServiceFacts } from './service-facts.ts';

type Moved = Pick<ServiceFacts, 'starts' | 'warmAtStart'> & { readonly rows: readonly MeasuredRow[] };

type Move = {
  readonly rows: readonly MeasuredRow[];
  readonly facts: Pick<ServiceFacts, 'starts' | 'warmAtStart'>;
  readonly samples: readonly Sample[];
  readonly ratios: readonly GpuRatio[];
  /** Which end of the ratios counts. */
  readonly end: 'fast' | 'expected' | 'slow';
};

const END = { fast: 'low', expected: 'expected', slow: 'high' } as const;

export function moveTo(to: string, { rows, facts, samples, ratios, end }: Move): Moved {
  const factors = new Map(ratios.map((ratio) => [ratio.from, ratio[END[end]] ?? 1]));
  const moved = (attempt: MeasuredAttempt): MeasuredAttempt => {
    const own = facts.starts.get(attempt.gpu);
    const isCold = own?.isCold(attempt.startMs) ?? false;
    return {
      ...attempt,
      gpu: to,
      // The model decides which starts are cold.
      startMs: isCold && attempt.gpu !== to ? (own?.warmMs ?? 0) : attempt.startMs,
      runMs: attempt.runMs * (factors.get(attempt.gpu) ?? 1),
    };
  };
  const warm = facts.warmAtStart.get(to);
  return {
    rows: rows.map(({ attempts }) => ({ asked: to, attempts: attempts.map(moved) })),
    starts: new Map([[to, startsOn(to, facts, samples)]]),
    warmAtStart: new Map(warm === undefined ? [] : [[to, warm]]),
  };
}

/** Cold starts on the GPU itself, if they were measured here; otherwise those of the batch. */
function startsOn(to: string, { starts }: Pick<ServiceFacts, 'starts'>, samples: readonly Sample[]): Starts {
  const own = starts.get(to);
  if (own !== undefined && own.coldMs.length > 0) return own;
  const others = samples
    .filter(({ gpu }) => gpu === to)
    .flatMap(({ runs }) => runs.map((run) => run.coldStart * 1000));
  const measured = startsOf(others);
  const all = [...starts.values()];
  const coldMs = measured.coldMs.length > 0 ? measured.coldMs : all.flatMap((one) => one.coldMs);
  // The rows were given warm starts already.
  return { coldMs, warmMs: 0, isCold: () => false };
}
