// R20: a batch that was begun and that Temporal no longer knows is rebuilt from what remains: its parts, and the service's
// own lists. A row in a part has its outcome. A row with a run waits for that run. Any other row was never bought, if the
// lists are complete and old enough to say so, and is sent under attempts that no earlier life of the batch has used.

import { pack, type Carried } from '../batch/carry.ts';
import type { Entry } from '../batch/entry.ts';
import { ENTRIES_MAX } from '../batch/limits.ts';
import { NO_LEDGER } from '../batch/ledger.ts';
import type { Order } from '../batch/order.ts';
import type { PastAttempt } from '../batch/outcome.ts';
import { retryAt } from '../batch/retry.ts';
import { begin } from '../batch/state.ts';
import { NO_TALLY, type Tally } from '../batch/tally.ts';
import { problem } from '../errors.ts';
import { fold } from '../results/fold.ts';
import { rowsOf } from '../results/rows.ts';
import type { RunService } from '../run-service/client.ts';
import { standingOf } from '../run-service/ending.ts';
import type { Run } from '../run-service/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import { quietMsOf } from './quiet.ts';
import { boughtRuns, type Bought as BoughtRun } from './bought-runs.ts';
import { NoList } from './run-pages.ts';

/** Attempts of an earlier life are numbered far below. */
const FIRST_ATTEMPT = 101;

/** What the parts say: which rows are done, and their sums. */
type Done = {
  readonly rows: Uint8Array;
  readonly last: number;
  readonly tally: Tally;
  readonly count: number;
};

/** Runs of rows that are not done, by row. */
type AttemptRun = { readonly attempt: number; readonly run: Run };
type Bought = ReadonlyMap<number, readonly AttemptRun[]>;

export type Recovered = {
  readonly carried: Carried;
  readonly done: number;
  readonly waiting: number;
  readonly again: number;
};

/** Throws E511 where the lists cannot say what was bought. */
export async function recover(
  { store, file, batch }: { readonly store: Store; readonly file: BatchFile; readonly batch: string },
  service: Pick<RunService, 'listRuns'>,
  now: number,
): Promise<Recovered> {
  const done = await readParts(store, file);
  const bought = await readBought(file, service, done, now);
  const last = Math.max(done.last, ...bought.keys());
  const entries = entriesFor(bought, done, last, file, now);
  if (entries.length > ENTRIES_MAX)
    throw problem('E511', {
      batch,
      reason: `${entries.length} rows are neither done nor unsent, more than a batch holds`,
    });
  const parts = await store.list('parts');
  const nextPart = 1 + Math.max(0, ...parts.map((name) => Number.parseInt(name, 10)));
  const fresh = pack(begin(orderOf(file), now));
  return {
    carried: {
      ...fresh,
      cursor: last + 1,
      nextPart,
      entries,
      tally: done.tally,
      ledger: ledgerOf(entries, done),
    },
    done: done.count,
    waiting: entries.filter(({ phase }) => phase !== 'waiting').length,
    again: entries.filter(({ phase }) => phase === 'waiting').length,
  };
}

const orderOf = (file: BatchFile): Order => ({
  batch: file.batch,
  rows: file.sheet.rows,
  cap: file.cap,
  retries: file.retries,
  webhooks: file.webhooks,
  lists: true,
  uncertain: file.uncertain,
  seed: file.seed,
  timing: file.service.timing,
});

/** What is known of requests: each run that a row names was one that was accepted. */
function ledgerOf(entries: readonly Entry[], done: Done): Carried['ledger'] {
  const named = entries.reduce((sum, entry) => sum + entry.past.length + Number('runId' in entry), 0);
  const runs = named + runsIn(done.tally);
  return { ...NO_LEDGER, sent: runs, accepted: runs };
}

const runsIn = (tally: Tally): number => Object.values(tally.gpus).reduce((sum, { runs }) => sum + runs, 0);

async function readParts(store: Store, file: BatchFile): Promise<Done> {
  const rows = new Uint8Array(file.sheet.rows + 1);
  let [last, count, tally] = [0, 0, NO_TALLY];
  for await (const { row, record } of rowsOf(store, file)) {
    if (record === undefined) continue;
    rows[row.row] = 1;
    last = row.row;
    count += 1;
    tally = fold(tally, record);
  }
  return { rows, last, tally, count };
}

async function readBought(
  file: BatchFile,
  service: Pick<RunService, 'listRuns'>,
  done: Done,
  now: number,
): Promise<Bought> {
  const bought = new Map<number, { attempt: number; run: Run }[]>();
  let newest = 0;
  for await (const { run, row, attempt } of runsInLists(file, service)) {
    newest = Math.max(newest, run.createdAtMs ?? 0);
    const all = bought.get(row) ?? [];
    if (done.rows[row] !== 1 && all.every((one) => one.run.id !== run.id))
      bought.set(row, [...all, { attempt, run }]);
  }
  const quietMs = quietMsOf(file);
  if (now - newest < quietMs)
    throw problem('E511', {
      batch: file.batch,
      reason: `its last run is ${Math.round((now - newest) / 1000)} s old; after ${Math.ceil(quietMs / 1000)} s of quiet the lists are complete`,
    });
  return bought;
}

async function* runsInLists(
  file: BatchFile,
  service: Pick<RunService, 'listRuns'>,
): AsyncGenerator<BoughtRun> {
  try {
    yield* boughtRuns({ file, service, since: Date.parse(file.createdAt) });
  } catch (error) {
    if (error instanceof NoList) throw problem('E511', { batch: file.batch, reason: error.message });
    throw error;
  }
}

function entriesFor(
  bought: Bought,
  done: Done,
  last: number,
  file: BatchFile,
  now: number,
): readonly Entry[] {
  const entries: Entry[] = [];
  for (let row = 1; row <= last; row += 1) {
    if (done.rows[row] === 1) continue;
    const runs = bought.get(row) ?? [];
    const own = ownRun(runs);
    entries.push(
      own === undefined
        ? { phase: 'waiting', row, attempt: FIRST_ATTEMPT, tries: 0, past: [], dueAt: now }
        : entryOf(row, own, pastOf(runs, own), file, now),
    );
  }
  return entries;
}

/** A row by its latest run: one that has ended holds no slot any more. */
function entryOf(
  row: number,
  { attempt, run }: AttemptRun,
  past: readonly PastAttempt[],
  file: BatchFile,
  now: number,
): Entry {
  const standing = standingOf(run);
  const runId = run.id;
  if (standing.kind !== 'ended')
    return { phase: 'running', row, attempt, tries: past.length, past, runId, since: now };
  const tries = past.length + 1;
  const again = retryAt({ outcome: standing.outcome, tries, row }, file, now);
  if (again !== undefined)
    return {
      phase: 'waiting',
      row,
      attempt: attempt + 1,
      tries,
      past: [...past, { attempt, runId, outcome: standing.outcome }],
      dueAt: again,
    };
  const { outcome, reason } = standing;
  return { phase: 'ended', row, attempt, tries, past, at: now, outcome, runId, ...(reason && { reason }) };
}

/** The run that a row lives by: one that succeeded, else one that goes on, else that of its latest attempt. */
function ownRun(runs: readonly AttemptRun[]): AttemptRun | undefined {
  const rank = ({ run }: AttemptRun): number => {
    const standing = standingOf(run);
    if (standing.kind !== 'ended') return 1;
    return standing.outcome === 'succeeded' ? 2 : 0;
  };
  return runs.toSorted((a, b) => rank(a) - rank(b) || a.attempt - b.attempt).at(-1);
}

/** What its earlier attempts came to, one run each. Any other run is named by nobody, so that it is found as a stray. */
function pastOf(runs: readonly AttemptRun[], own: AttemptRun): readonly PastAttempt[] {
  const earlier = new Map<number, PastAttempt>();
  for (const { attempt, run } of runs) {
    const standing = standingOf(run);
    if (attempt < own.attempt && standing.kind === 'ended')
      earlier.set(attempt, { attempt, runId: run.id, outcome: standing.outcome });
  }
  return [...earlier.values()].sort((a, b) => a.attempt - b.attempt);
}
