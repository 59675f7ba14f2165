// The last reading of the run lists (R13): every run that carries a token of the batch, compared with the runs that its rows
// name. What nobody names is a stray: a twin, or a run of an attempt that was given up. Somebody pays for it.

import { costOf } from '../batch/gpu.ts';
import { reasonOf } from '../errors.ts';
import type { RunService } from '../run-service/client.ts';
import { isTerminal, type Run } from '../run-service/contract/run.ts';
import type { LastReading } from '../results/summary.ts';
import { boughtRuns, type Bought, type BoughtOrder } from './bought-runs.ts';
import type { KnownRuns } from './known-runs.ts';
import { NoList } from './run-pages.ts';

type Stray = LastReading['strays'][number];

/** `incomplete`: the lists could not be read to their end; `none`: the service has no list that shows webhooks. */
export type Reading = LastReading & {
  /** Runs in the lists that carry a token of the batch. */
  readonly runs: number;
  /** Why the lists could not be read. */
  readonly reason?: string;
};

export type ReadingOrder = BoughtOrder & {
  readonly service: Pick<RunService, 'cancelRun' | 'getRun'>;
  readonly known: Pick<KnownRuns, 'has'>;
  /** Whether strays that still run are cancelled. */
  readonly cancels: boolean;
};

/** Never throws for what the service does: what could not be read is said. */
export async function readLists(order: ReadingOrder): Promise<Reading> {
  const strays: Stray[] = [];
  const seen = new Set<string>();
  let runs = 0;
  try {
    for await (const bought of boughtRuns(order)) {
      const { run } = bought;
      if (seen.has(run.id)) continue;
      runs += 1;
      if (order.known.has(run.id)) continue;
      seen.add(run.id);
      strays.push(strayOf({ ...bought, run: await ended(order, run) }, order.file.service.prices));
    }
    return { lists: 'complete', runs, strays };
  } catch (error) {
    if (error instanceof NoList) return { lists: 'none', runs: 0, strays: [] };
    return { lists: 'incomplete', runs, strays, reason: reasonOf(error) };
  }
}

/** The stray as it is after it was cancelled, where it still ran. */
async function ended({ service, cancels }: ReadingOrder, run: Run): Promise<Run> {
  if (!cancels || isTerminal(run.status)) return run;
  try {
    await service.cancelRun(run.id);
    return (await service.getRun(run.id)) ?? run;
  } catch {
    // It is named as it was listed: not to be told of it would be worse than not to have cancelled it.
    return run;
  }
}

function strayOf({ run, row, attempt }: Bought, prices: Readonly<Record<string, number>>): Stray {
  const { gpu, coldStartSeconds: coldStart, runSeconds: ran } = run;
  return {
    row,
    attempt,
    run_id: run.id,
    status: run.status,
    ...(gpu === undefined ? {} : { gpu }),
    gpu_seconds: (coldStart ?? 0) + (ran ?? 0),
    cost_usd: costOf(prices, gpu, { coldStart, run: ran }),
  };
}
