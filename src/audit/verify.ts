// Recounts what summary.json claims, from the parts and, if the service can be reached, from its run list.

import { createHash } from 'node:crypto';
import { pMapIterable } from 'p-map';
import { knownRuns, stillUnconfirmed, type RequestLedger } from '../batch/accounting/request-ledger.ts';
import { NO_OUTCOMES, OUTCOMES } from '../batch/outcome.ts';
import { readDuplicates } from '../results/duplicates-file.ts';
import type { Summary } from '../results/summary.ts';
import { outputCheck } from '../host/formats/output-check.ts';
import { climbedIn } from '../results/tally-rows.ts';
import { gpuSecondsOf, type FileRecord, type RowRecord } from '../results/row-record.ts';
import { recordOf, rowsOf } from '../results/batch-rows.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import type { ListedRuns } from './duplicate-runs.ts';
import type { KnownRuns } from './known-runs.ts';

export type Finding = { readonly claim: string; readonly holds: boolean; readonly message: string };

/** Reads every row, and with `files` every file; adds the runs that rows name to `known`. */
export async function recount(
  store: Store,
  file: BatchFile,
  { files, known: named }: { readonly files: boolean; readonly known: Pick<KnownRuns, 'add'> },
) {
  const outcomes: Record<string, number> = { ...NO_OUTCOMES };
  const badFiles: string[] = [];
  let [rows, reused, runs, gpuSeconds, costUsd, delivered, climbing] = [0, 0, 0, 0, 0, 0, 0];
  const checked = pMapIterable(
    rowsOf(store, file),
    async (row) => {
      const record = recordOf(row, file);
      return { record, bad: files ? await badFilesIn(store, record) : [] };
    },
    { concurrency: ROWS_AT_A_TIME },
  );
  for await (const { record, bad } of checked) {
    rows += 1;
    if (record.reused_from !== undefined) reused += 1;
    outcomes[record.outcome] = (outcomes[record.outcome] ?? 0) + 1;
    for (const { run_id, ended_at, gpu_used, cost_usd = 0, ...times } of record.attempts) {
      if (run_id !== undefined) {
        runs += 1;
        named.add(run_id, ended_at);
      }
      if (gpu_used === undefined) continue;
      gpuSeconds += gpuSecondsOf(times);
      costUsd += cost_usd;
    }
    climbing += climbedIn(record.attempts).length;
    delivered += record.files.length;
    badFiles.push(...bad);
  }
  const { duplicates, duplicatesUsd } = await recountDuplicates(store);
  return {
    rows,
    outcomes,
    reused,
    /** Runs that rows name. */
    runs,
    /** Runs below the rung of a ladder on which their row ended. */
    climbing,
    gpuSeconds,
    /** Runs in duplicates.jsonl. */
    duplicates,
    /** The estimated cost of the runs that rows name, and of all runs. */
    costUsd,
    totalCostUsd: costUsd + duplicatesUsd,
    files: delivered,
    /** Files that are missing, differ from their checksum, or are not what their names promise; each with the reason. */
    badFiles: badFiles as readonly string[],
  };
}
type Recount = Awaited<ReturnType<typeof recount>>;

async function recountDuplicates(store: Store) {
  let [duplicates, duplicatesUsd] = [0, 0];
  for await (const { cost_usd = 0 } of readDuplicates(store)) {
    duplicates += 1;
    duplicatesUsd += cost_usd;
  }
  return { duplicates, duplicatesUsd };
}

/** Small files take longer to open than to read. */
const ROWS_AT_A_TIME = 16;

async function badFilesIn(store: Store, { files }: RowRecord): Promise<readonly string[]> {
  const bad: string[] = [];
  for (const file of files) {
    const fault = await faultOf(store, file);
    if (fault !== undefined) bad.push(`${file.path} (${fault})`);
  }
  return bad;
}

async function faultOf(store: Store, { path, bytes, sha256, name }: FileRecord): Promise<string | undefined> {
  const hash = createHash('sha256');
  const check = outputCheck({ name });
  let size = 0;
  try {
    for await (const chunk of store.open(path) as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      check.add(chunk);
      size += chunk.byteLength;
      if (size > bytes) return 'changed';
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  return size === bytes && hash.digest('hex') === sha256 ? check.fault() : 'changed';
}

export async function reportedDuplicates(store: Store, runs: Pick<KnownRuns, 'add'>): Promise<void> {
  for await (const { run_id } of readDuplicates(store)) runs.add(run_id);
}

/** The complete run list, read again; `hidden`: duplicates that the batch has not reported. */
export type ListsNow = { readonly reading: ListedRuns; readonly hidden: readonly string[] };

/** Compares the claims of summary.json with the counts, and with the run list if it was read to its end. */
export function findings(
  summary: Summary,
  counted: Recount,
  lists: ListsNow | undefined,
): readonly Finding[] {
  const { requests } = summary;
  const claimedSeconds = Object.values(summary.gpus).reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    same('every row has one outcome', summary.rows, counted.rows),
    ...OUTCOMES.map((outcome) =>
      same(`rows ${outcome}`, summary.outcomes[outcome], counted.outcomes[outcome] ?? 0),
    ),
    same('rows reused from earlier batches', summary.reused, counted.reused),
    same('requests, each accounted for', requests.sent, sumOfSent(requests)),
    same('unconfirmed requests without a decision', 0, stillUnconfirmed(requests)),
    same('runs that rows name', knownRuns(requests), counted.runs),
    same('duplicate runs that are named', summary.duplicates.runs, counted.duplicates),
    ...(summary.climbing === undefined
      ? []
      : [same('runs below the rung that worked', summary.climbing.runs, counted.climbing)]),
    same('GPU seconds', claimedSeconds, counted.gpuSeconds, SECONDS),
    ...sameCost('estimated cost of the rows', summary.cost_usd, counted.costUsd),
    ...sameCost('estimated cost with duplicate runs', summary.total_cost_usd, counted.totalCostUsd),
    {
      claim: `${counted.files} files match what was delivered`,
      holds: counted.badFiles.length === 0,
      message: counted.badFiles.length === 0 ? 'all' : `wrong: ${counted.badFiles.slice(0, 5).join(', ')}`,
    },
    ...(lists === undefined ? [] : listFindings(counted, lists)),
  ];
}

function listFindings({ runs }: Recount, { reading, hidden }: ListsNow): readonly Finding[] {
  const duplicates = reading.duplicates.runs;
  return [
    same('runs in the lists of the service', runs + duplicates, reading.runs),
    {
      claim: 'runs that no row names are reported',
      holds: hidden.length === 0,
      message: hidden.length === 0 ? String(duplicates) : `not ${hidden.slice(0, HIDDEN_SHOWN).join(', ')}`,
    },
  ];
}

const HIDDEN_SHOWN = 10;

const sumOfSent = ({ accepted, rejected, throttled, blocked, unconfirmed }: RequestLedger): number =>
  accepted + rejected + throttled + blocked + unconfirmed;

type Figure = { readonly text: (figure: number) => string; isSame(expected: number, found: number): boolean };

const COUNT: Figure = { text: String, isSame: Object.is };
const SECONDS: Figure = {
  text: (seconds) => seconds.toFixed(1),
  isSame: (a, b) => Math.abs(a - b) <= 0.001 * Math.max(1, a),
};
const COST: Figure = {
  text: (usd) => `$${usd.toFixed(6)}`,
  // Sums of the same numbers in another order, from parts that are rounded to millionths of a dollar.
  isSame: (a, b) => Math.abs(a - b) <= 3e-6 + 1e-9 * Math.abs(a),
};

function same(claim: string, expected: number, actual: number, { text, isSame } = COUNT): Finding {
  const holds = isSame(expected, actual);
  return {
    claim,
    holds,
    message: holds ? text(actual) : `${text(expected)} expected, ${text(actual)} found`,
  };
}

/** Runs without prices have no cost to compare. */
const sameCost = (claim: string, expected: number | null | undefined, actual: number): readonly Finding[] =>
  expected == null ? [] : [same(claim, expected, actual, COST)];
