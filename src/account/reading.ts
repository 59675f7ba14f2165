// The last reading of the run lists (R13): every run that carries a token of the batch, compared with the runs that its rows
// name. What nobody names is a stray: a twin, or a run of an attempt that was given up. Somebody pays for it.

import { costOf } from '../batch/gpu.ts';
import { reasonOf } from '../errors.ts';
import type { RunService } from '../run-service/client.ts';
import { isTerminal, type Run } from '../run-service/contract/run.ts';
import type { LastReading } from '../results/summary.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readToken } from '../webhook/token.ts';
import type { KnownRuns } from './known-runs.ts';

type Stray = LastReading['strays'][number];

/** `incomplete`: the lists could not be read to their end; `none`: the service has no list that shows webhooks. */
export type Reading = LastReading & {
  /** Runs in the lists that carry a token of the batch. */
  readonly runs: number;
  /** Why the lists could not be read. */
  readonly reason?: string;
};

export type ReadingOrder = {
  readonly file: Pick<BatchFile, 'batch' | 'deployment' | 'service'>;
  readonly service: Pick<RunService, 'listRuns' | 'cancelRun' | 'getRun'>;
  readonly known: Pick<KnownRuns, 'has'>;
  /** The lists are read back to this moment, in milliseconds since 1970. */
  readonly since: number;
  /** Whether strays that still run are cancelled. */
  readonly cancels: boolean;
};

const LIST_PAGE = 500;

/** Never throws for what the service does: what could not be read is said. */
export async function readLists(order: ReadingOrder): Promise<Reading> {
  const { workflowId } = order.file.deployment;
  if (workflowId === undefined) return { lists: 'none', runs: 0, strays: [] };
  const strays: Stray[] = [];
  const seen = new Set<string>();
  let runs = 0;
  try {
    for await (const run of listed(order, workflowId)) {
      const token = readToken(run.webhook);
      // The list moves while it is read: a run may come twice.
      if (token?.batch !== order.file.batch || seen.has(run.id)) continue;
      runs += 1;
      if (order.known.has(run.id)) continue;
      seen.add(run.id);
      strays.push(strayOf(await ended(order, run), token, order.file.service.prices));
    }
    return { lists: 'complete', runs, strays };
  } catch (error) {
    if (error instanceof NoList) return { lists: 'none', runs: 0, strays: [] };
    return { lists: 'incomplete', runs, strays, reason: reasonOf(error) };
  }
}

class NoList extends Error {
  override readonly name = 'NoList';
}

/** Newest first, back to the beginning of the batch. */
async function* listed({ service, file, since }: ReadingOrder, workflowId: string): AsyncGenerator<Run> {
  const oldest = since - file.service.timing.skewMs;
  for (let offset = 0; ; offset += LIST_PAGE) {
    const page = await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
    if (page === undefined) throw new NoList('the service has no run list');
    yield* page;
    if (page.length < LIST_PAGE || page.some((run) => (run.createdAtMs ?? oldest) < oldest)) return;
  }
}

/** The stray as it is after it was cancelled, where it still ran. */
async function ended({ service, cancels }: ReadingOrder, run: Run): Promise<Run> {
  if (!cancels || isTerminal(run.status)) return run;
  await service.cancelRun(run.id);
  return (await service.getRun(run.id)) ?? run;
}

function strayOf(
  run: Run,
  { row, attempt }: { readonly row: number; readonly attempt: number },
  prices: Readonly<Record<string, number>>,
): Stray {
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
