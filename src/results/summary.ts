// summary.json: what a finished batch came to. Its presence says that the batch is done.

import { OUTCOMES, type Outcome } from '../batch/outcome.ts';
import { costSoFar, type GpuUse } from '../batch/tally.ts';
import type { Ledger } from '../batch/ledger.ts';
import type { BatchView } from '../batch/view.ts';
import { problem } from '../errors.ts';
import { SUMMARY_FILE, type BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

export type Summary = {
  readonly batch: string;
  /** Whether the runs were those of the local run service. */
  readonly rehearsal: boolean;
  readonly deployment: string;
  readonly rows: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly began_at: string;
  readonly ended_at: string;
  readonly seconds: number;
  /** An estimate: cold start and run seconds at the price of the GPU used. */
  readonly cost_usd: number;
  readonly gpus: Readonly<Record<string, GpuUse>>;
  readonly ledger: Ledger;
  /** How the service's lists were read at the end; see {@link LastReading}. */
  readonly lists: LastReading['lists'];
  /** Runs that no row names: second ones, or of attempts that were given up. Somebody pays for them. */
  readonly strays: LastReading['strays'];
};

/** What the run lists showed when all rows had their outcomes. */
export type LastReading = {
  readonly lists: 'complete' | 'incomplete' | 'none';
  readonly strays: readonly {
    readonly row: number;
    readonly attempt: number;
    readonly run_id: string;
    readonly status: string;
    readonly gpu?: string;
    readonly gpu_seconds: number;
    readonly cost_usd: number;
  }[];
};

export function summaryOf(
  file: BatchFile,
  view: BatchView,
  { startedAt, endedAt, reading }: { startedAt: number; endedAt: number; reading: LastReading },
): Summary {
  return {
    batch: file.batch,
    rehearsal: file.service.rehearsal,
    deployment: file.deployment.name ?? file.deployment.id,
    rows: file.sheet.rows,
    outcomes: view.tally.outcomes,
    began_at: new Date(startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    seconds: (endedAt - startedAt) / 1000,
    cost_usd: Number(costSoFar(view.tally).toFixed(6)),
    gpus: view.tally.gpus,
    ledger: view.ledger,
    lists: reading.lists,
    strays: reading.strays.slice(0, STRAYS_NAMED),
  };
}

/** More would make a page of their own. */
const STRAYS_NAMED = 1_000;

/** undefined while the batch is not done. Throws E504 where it cannot be read. */
export async function readSummary(store: Store): Promise<Summary | undefined> {
  const text = await store.read(SUMMARY_FILE);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Summary);
  } catch (cause) {
    throw problem('E504', { what: `${store.location}/${SUMMARY_FILE} is no JSON` }, { cause });
  }
}

export const writeSummary = (store: Store, summary: Summary): Promise<void> =>
  store.write(SUMMARY_FILE, `${JSON.stringify(summary, undefined, 2)}\n`);

/** Rows that have an outcome other than succeeded. */
export const notSucceeded = ({ outcomes }: Pick<Summary, 'outcomes'>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0) - outcomes.succeeded;
