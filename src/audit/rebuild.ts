// R20: a batch that was started and that Temporal no longer knows is rebuilt from what remains: its parts, and the service's
// own lists. A row in a part has its outcome. A row with a run waits for that run. Any other row was never bought, if the
// lists are complete and old enough to say so, and is sent under attempts that no earlier pass of the batch has used.

import { NO_LEDGER } from '../batch/accounting/request-ledger.ts';
import { NO_TALLY, type Tally } from '../batch/accounting/tally.ts';
import { ROWS_MAX } from '../batch/bounds.ts';
import type { ReadBack } from '../batch/commands.ts';
import type { PastAttempt } from '../batch/outcome.ts';
import { retryAt } from '../batch/retry-policy.ts';
import type { RowState } from '../batch/row-state.ts';
import { snapshot, type Snapshot } from '../batch/snapshot.ts';
import { begin, put } from '../batch/state.ts';
import { WRITES } from '../batch/version.ts';
import { problem } from '../errors/error.ts';
import { addRecord } from '../results/tally-rows.ts';
import { rowsOf } from '../results/batch-rows.ts';
import type { RunService } from '../run-service/client.ts';
import { outcomeOf } from '../run-service/run-outcome.ts';
import { countEvidence, paramsOf, type BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import { quietMsOf } from './quiet-period.ts';
import { NoList, ownRuns, type OwnRun } from './list-runs.ts';
import { leastShown } from './list-walk.ts';

/** Attempts of a pass begin at a hundred of their own. */
const PASS_ATTEMPTS = 100;

/** What the parts say: which rows are done, and their sums. */
type Done = {
  readonly rows: Uint8Array;
  readonly last: number;
  readonly tally: Tally;
  readonly count: number;
  /** Attempts with a run, of the rows that are done. */
  readonly runs: number;
};

export type RebuildParams = {
  readonly store: Store;
  readonly file: BatchFile;
  readonly service: Pick<RunService, 'listRuns' | 'nowMs'>;
  readonly back: ReadBack;
  /** The pass that begins, and our own time. */
  readonly pass: number;
  readonly now: number;
};

export type Rebuilt = {
  readonly snapshot: Snapshot;
  readonly done: number;
  readonly running: number;
  readonly again: number;
};

/** Throws E511 where the lists cannot say what was bought. */
export async function rebuild(params: RebuildParams): Promise<Rebuilt> {
  const { store, file, back, pass, now } = params;
  const done = await readParts(store, file);
  const runs = await readRuns(params, done);
  const last = [...runs.keys()].reduce((most, row) => Math.max(most, row), done.last);
  const rows = rowsUpTo(last, done, runs, params);
  if (rows.length > ROWS_MAX)
    throw problem('E511', {
      batch: file.batch,
      reason: `${rows.length} rows are neither done nor unsent, more than a batch holds`,
    });
  const webhooks = file.webhooks;
  const state = begin(paramsOf(file, { webhooks, lists: true, pass }), WRITES, now);
  state.serviceOffset = back.offset;
  state.evidenceFiles = await countEvidence(store);
  for (const row of rows) put(state, row);
  const named = rows.reduce((sum, row) => sum + row.past.length + Number('runId' in row), 0) + done.runs;
  state.nextRow = last + 1;
  state.tally = done.tally;
  state.ledger = { ...NO_LEDGER, sent: named, accepted: named };
  return {
    // The last reading of the lists goes back to the runs of the first pass.
    snapshot: { ...snapshot(state), startedWallAt: now - back.agoMs },
    done: done.count,
    running: rows.filter(({ phase }) => phase !== 'waiting').length,
    again: rows.filter(({ phase }) => phase === 'waiting').length,
  };
}

async function readParts(store: Store, file: BatchFile): Promise<Done> {
  const rows = new Uint8Array(file.sheet.rows + 1);
  let [last, count, runs, tally] = [0, 0, 0, NO_TALLY];
  for await (const { row, record } of rowsOf(store, file)) {
    if (record === undefined) continue;
    rows[row.row] = 1;
    last = row.row;
    count += 1;
    runs += record.attempts.filter(({ run_id }) => run_id !== undefined).length;
    tally = addRecord(tally, record);
  }
  return { rows, last, tally, count, runs };
}

/** Runs of rows that are not done, by row. */
type Runs = ReadonlyMap<number, readonly OwnRun[]>;

async function readRuns({ file, service, back }: RebuildParams, done: Done): Promise<Runs> {
  const runs = new Map<number, OwnRun[]>();
  let newest = 0;
  let shown = 0;
  const isWhole = (): boolean => {
    if (shown >= leastShown(done.runs, file.concurrency)) return true;
    throw problem('E511', {
      batch: file.batch,
      reason: `the run list ends after ${shown} of its runs, and its parts name ${done.runs}`,
    });
  };
  for await (const one of everyRun(file, service, back, isWhole)) {
    shown += 1;
    newest = Math.max(newest, one.run.createdAtMs ?? 0);
    const all = runs.get(one.row) ?? [];
    // Anybody may make up a token of a row that the sheet does not have.
    const isOpen = one.row >= 1 && done.rows[one.row] === 0;
    if (isOpen && all.every(({ runId }) => runId !== one.runId)) runs.set(one.row, [...all, one]);
  }
  // Both times are the service's.
  const ageMs = (service.nowMs() ?? Number.POSITIVE_INFINITY) - newest;
  const quietMs = quietMsOf(file);
  if (ageMs < quietMs)
    throw problem('E511', {
      batch: file.batch,
      reason: `its last run is ${Math.round(ageMs / 1000)} s old; after ${Math.ceil(quietMs / 1000)} s of quiet the lists are complete`,
    });
  return runs;
}

const PAGE_TRIES = 5;

async function* everyRun(
  file: BatchFile,
  service: RebuildParams['service'],
  back: ReadBack,
  isWhole: () => boolean,
): AsyncGenerator<OwnRun> {
  try {
    const { workflowId } = file.deployment;
    yield* ownRuns(file, { service, workflowId, back, tries: PAGE_TRIES, isWhole });
  } catch (error) {
    if (error instanceof NoList) throw problem('E511', { batch: file.batch, reason: error.message });
    throw error;
  }
}

function rowsUpTo(last: number, done: Done, runs: Runs, params: RebuildParams): readonly RowState[] {
  const rows: RowState[] = [];
  for (let row = 1; row <= last; row += 1)
    if (done.rows[row] !== 1) rows.push(rowOf(row, runs.get(row) ?? [], params));
  return rows;
}

/** A row by the run that it lives by: one that has ended holds no slot any more. */
function rowOf(row: number, runs: readonly OwnRun[], { file, pass, now }: RebuildParams): RowState {
  const firstAttempt = (pass - 1) * PASS_ATTEMPTS + 1;
  const own = chosenRun(runs);
  if (own === undefined)
    return { phase: 'waiting', row, attempt: firstAttempt, tries: 0, past: [], dueAt: now };
  const { attempt, runId } = own;
  const past = pastOf(runs, own);
  const state = outcomeOf(own.run);
  if (state.kind !== 'ended')
    return { phase: 'running', row, attempt, tries: past.length, past, runId, since: now };
  const { outcome, reason } = state;
  const tries = past.length + 1;
  const dueAt = retryAt({ outcome, tries, row }, file, now);
  if (dueAt === undefined)
    return { phase: 'ended', row, attempt, tries, past, at: now, outcome, runId, ...(reason && { reason }) };
  const again = Math.max(attempt + 1, firstAttempt);
  return {
    phase: 'waiting',
    row,
    attempt: again,
    tries,
    past: [...past, { attempt, runId, outcome }],
    dueAt,
  };
}

/** The run that a row lives by: one that succeeded, else one that goes on, else that of its latest attempt. */
function chosenRun(runs: readonly OwnRun[]): OwnRun | undefined {
  const rank = ({ run }: OwnRun): number => {
    const state = outcomeOf(run);
    if (state.kind !== 'ended') return 1;
    return state.outcome === 'succeeded' ? 2 : 0;
  };
  return runs.toSorted((a, b) => rank(a) - rank(b) || a.attempt - b.attempt).at(-1);
}

/** What its earlier attempts came to, one run each. Any other run is named by no row, so that it is found as a duplicate. */
function pastOf(runs: readonly OwnRun[], own: OwnRun): readonly PastAttempt[] {
  const earlier = new Map<number, PastAttempt>();
  for (const { attempt, run, runId } of runs) {
    const state = outcomeOf(run);
    if (attempt < own.attempt && state.kind === 'ended')
      earlier.set(attempt, { attempt, runId, outcome: state.outcome });
  }
  return [...earlier.values()].sort((a, b) => a.attempt - b.attempt);
}
