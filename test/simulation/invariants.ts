// Checks a finished simulated batch against the records of its service: every row has ended once, no row was bought twice
// without a reason, no success is false, every run is reported, no foreign run was touched, and the ledger adds up.

import { atRisk, knownRuns, stillUnconfirmed } from '../../src/batch/accounting/request-ledger.ts';
import { lanesOf, placeIn } from '../../src/batch/state/lanes.ts';
import { rowsDone } from '../../src/batch/accounting/tally.ts';
import type { PastAttempt } from '../../src/batch/outcome.ts';
import type { SimBatch } from './batch.ts';
import type { SimRun } from './service.ts';
import type { SimRecord } from './store.ts';
import type { World } from './world.ts';

export type Verdict = {
  lost: number;
  duplicates: number;
  unreported: number;
  falseSuccesses: number;
  /** Runs of others that the batch cancelled or claimed. */
  foreign: number;
};

export function judge(world: World, batch: SimBatch, verdict: Verdict): void {
  const runsOf = new Map<number, SimRun[]>();
  for (const run of batch.service.runs) {
    if (run.mark === batch.mark) runsOf.set(run.place, [...(runsOf.get(run.place) ?? []), run]);
    else if (run.cancelledBy === batch.mark) verdict.foreign += 1;
  }
  world.claim(verdict.foreign === 0, () => `batch ${batch.mark} cancelled runs of others`);
  const records = recordsOf(world, batch);
  for (const row of placesOf(batch)) {
    const record = records.get(row);
    const runs = runsOf.get(row) ?? [];
    if (record === undefined) checkMissing(world, batch, row, runs, verdict);
    else if (batch.passes.fetchedAt(row) !== undefined) checkFetched(world, batch, record, runs);
    else checkRow(world, batch, { row, ...record, attempts: record.end.attempts, runs }, verdict);
  }
  checkAccount(world, batch);
  if (batch.holder.state.finished) batch.receivers.check(batch.holder);
}

function placesOf({ params, passes }: SimBatch): readonly number[] {
  const first = lanesOf(params).flatMap(({ segments }, lane) =>
    segments.flatMap(({ first: from, count }) =>
      Array.from({ length: count }, (_, at) => placeIn(lane, from + at)),
    ),
  );
  return [...first, ...passes.places];
}

function recordsOf(world: World, batch: SimBatch): ReadonlyMap<number, SimRecord> {
  const records = new Map<number, SimRecord>();
  for (const { rows } of batch.store.parts) {
    for (const record of rows) {
      world.claim(!records.has(record.end.place), () => `row ${record.end.place} is in two parts`);
      records.set(record.end.place, record);
    }
  }
  return records;
}

/** R32: a row whose files are fetched again has no second run, and succeeds only by the run that was paid for. */
function checkFetched(
  world: World,
  { passes, service }: SimBatch,
  { end, outcome }: SimRecord,
  runs: readonly SimRun[],
): void {
  const paid = passes.fetchedAt(end.place) ?? '';
  world.claim(runs.length === 0, () => `row ${end.place} was bought again, although ${paid} was paid for`);
  const isTrue = end.attempts.at(-1)?.runId === paid && service.byId.get(paid)?.outcome === 'succeeded';
  world.claim(
    outcome !== 'succeeded' || isTrue,
    () => `row ${end.place} succeeded by another run than ${paid}`,
  );
}

/** Only cancelled rows may have no part, and they must have no runs; a pass that was asked for later has all its rows. */
function checkMissing(
  world: World,
  batch: SimBatch,
  row: number,
  runs: readonly SimRun[],
  verdict: Verdict,
): void {
  const neverSent = batch.passes.passOf(row) <= batch.cancelledThrough;
  if (!neverSent) verdict.lost += 1;
  world.claim(neverSent && runs.length === 0, () => `row ${row} has no outcome, and ${runs.length} runs`);
}

type CheckedRow = SimRecord & {
  readonly row: number;
  readonly attempts: readonly PastAttempt[];
  readonly runs: readonly SimRun[];
};

function checkRow(world: World, batch: SimBatch, row: CheckedRow, verdict: Verdict): void {
  const { attempts, runs } = row;
  for (const run of runs) checkRun(world, batch, row, run, verdict);
  for (const { runId } of attempts) {
    const isOwn = runId === undefined || runs.some(({ id }) => id === runId);
    if (!isOwn) verdict.foreign += 1;
    world.claim(isOwn, () => `row ${row.row} names ${runId}, which is not its run`);
  }
  checkBought(world, batch, row, verdict);
  checkSuccess(world, row, verdict);
  const failures = attempts.filter(({ outcome }) => outcome === 'failed' || outcome === 'timed-out').length;
  const climbs = (world.plan.ladder?.length ?? 1) - 1;
  world.claim(failures <= world.plan.retries + climbs + 1, () => `row ${row.row} failed ${failures} times`);
}

/** Every run must belong to its row, be reported as duplicate or late, or belong to an attempt that was abandoned. */
function checkRun(
  world: World,
  batch: SimBatch,
  { row, attempts }: CheckedRow,
  run: SimRun,
  verdict: Verdict,
): void {
  const record = attempts.find(({ attempt }) => attempt === run.attempt);
  if (record?.runId === run.id || isReported(batch, run) || isRisk(record)) return;
  if (!isKnowable(batch, run)) return world.saw('a run that the batch cannot know');
  // The summary says so: a write to the store took long, and the state has no room for all runs that were seen.
  if (batch.holder.state.isEvidenceLost && !world.plan.lists)
    return world.saw('evidence lost, and the summary says so');
  verdict.unreported += 1;
  world.claim(false, () => `${run.id} of row ${row}.${run.attempt} is ${record?.outcome ?? 'in no record'}`);
}

/** The batch cannot know a run that appeared after the close, or in no list and no webhook. */
const isKnowable = (batch: SimBatch, run: SimRun): boolean =>
  batch.holder.evidence.has(run.id) || (batch.world.plan.lists && isListed(batch, run));

/** Whether the lists showed it when the batch closed; the summary says if they may lack runs. */
const isListed = ({ closedAt, store }: SimBatch, { listedAt }: SimRun): boolean =>
  listedAt <= closedAt && store.areListsWhole;

/**
 * A second run of a row needs a reason: the earlier one ended without success, or the batch could not know it. Where the service has
 * made two runs of one request, one of them may be the reason, and the other one has to be reported.
 */
function checkBought(
  world: World,
  batch: SimBatch,
  { row, attempts, runs }: CheckedRow,
  verdict: Verdict,
): void {
  const wanted = runs.filter(({ isExtra }) => !isExtra);
  for (const [index, run] of wanted.entries()) {
    const earlier = wanted[index - 1];
    if (earlier === undefined) continue;
    const wasRetried =
      earlier.attempt < run.attempt && earlier.endsAt <= run.createdAt && earlier.outcome !== 'succeeded';
    const wasAtRisk =
      attempts.some((record) => isRisk(record) && standsFor(record, earlier)) ||
      wasDecided(batch, earlier, run);
    if (wasRetried || wasAtRisk) continue;
    const isOneOfTwo = (candidate: SimRun): boolean =>
      runs.some((rival) => rival !== candidate && rival.attempt === candidate.attempt);
    const hasTwin = isOneOfTwo(earlier) || isOneOfTwo(run);
    const isSaid = [earlier, run].some((seen) => isReported(batch, seen) || !isKnowable(batch, seen));
    if (hasTwin && isSaid) {
      world.saw('bought twice beside a twin, and reported');
      continue;
    }
    verdict.duplicates += 1;
    world.claim(false, () => `row ${row} was bought twice: ${earlier.id} and ${run.id}`);
  }
}

const isReported = ({ store }: SimBatch, { id }: SimRun): boolean =>
  store.duplicates?.has(id) === true || store.late.has(id);

/** Whether the attempt was abandoned, and so reported as possible spend. */
const isRisk = (record: PastAttempt | undefined): boolean =>
  record?.outcome === 'unknown' || (record?.outcome === 'failed' && record.runId === undefined);

/** An attempt of a rebuilt row stands for those whose runs the lists have forgotten. */
const standsFor = ({ attempt, reason }: PastAttempt, run: SimRun): boolean =>
  attempt === run.attempt || (attempt > run.attempt && reason?.includes('deleted its run') === true);

/** A user has had the row sent again that a rebuild had in doubt; a later rebuild knows only the newest run. */
const wasDecided = ({ service }: SimBatch, earlier: SimRun, { attempt }: SimRun): boolean =>
  service.isForgotten(earlier) && attempt > PASS_ATTEMPTS && attempt % PASS_ATTEMPTS > 1;

const PASS_ATTEMPTS = 100;

function checkSuccess(world: World, { row, outcome, attempts, runs }: CheckedRow, verdict: Verdict): void {
  const last = attempts.at(-1);
  world.saw(`outcome ${outcome}`);
  if (attempts.some((attempt) => attempt.outcome === 'absent')) world.saw('proved absent');
  if (attempts.length > 1) world.saw('another attempt');
  if (outcome !== 'succeeded') return;
  const run = runs.find(({ id }) => id === last?.runId);
  const isTrue = run?.outcome === 'succeeded' && run.attempt === last?.attempt;
  if (!isTrue) verdict.falseSuccesses += 1;
  world.claim(
    isTrue,
    () => `row ${row} succeeded by ${last?.runId}, which ${run?.outcome ?? 'is not its run'}`,
  );
}

/** Checks the sums of rows, POSTs and unconfirmed attempts. */
function checkAccount(world: World, batch: SimBatch): void {
  const { ledger, tally, pass } = batch.holder.state;
  const rows = batch.params.rows + batch.passes.appendedThrough(pass);
  const { sent, accepted, rejected, throttled, blocked, unconfirmed, adopted, duplicates } = ledger;
  world.claim(rowsDone(tally) === rows, () => `${rowsDone(tally)} of ${rows} rows are counted`);
  const successes = batch.passes.successes(batch.store);
  world.claim(
    tally.outcomes.succeeded === successes,
    () => `${successes} rows have succeeded, ${tally.outcomes.succeeded} have kept it`,
  );
  world.claim(
    batch.holder.state.params.rows === rows,
    () => `${batch.holder.state.params.rows} of ${rows} rows are known`,
  );
  world.claim(
    sent === accepted + rejected + throttled + blocked + unconfirmed,
    () => `the ledger does not add up: ${JSON.stringify(ledger)}`,
  );
  world.claim(
    stillUnconfirmed(ledger) === 0,
    () => `${stillUnconfirmed(ledger)} attempts are still unconfirmed`,
  );
  const begun = batch.service.begun[batch.mark] ?? 0;
  // A rebuild knows of requests only by their runs.
  const isRebuilt = batch.store.started?.rebuiltPass !== undefined;
  world.claim(isRebuilt || sent >= begun, () => `${begun} POSTs were started, ${sent} are in the ledger`);
  const bought = batch.service.runs.filter(({ mark }) => mark === batch.mark);
  const runCount = knownRuns(ledger);
  // The close reports what a list showed only after a step of Temporal's clock had made its absence look proved.
  const { duplicates: byClose, late } = batch.store;
  const extra = bought.filter(
    (run) =>
      run.isExtra ||
      byClose?.has(run.id) === true ||
      late.has(run.id) ||
      (isRebuilt && batch.service.isForgotten(run)),
  ).length;
  world.claim(
    runCount <= bought.length && bought.length <= runCount + atRisk(ledger) + extra,
    () => `${bought.length} runs exist, ${runCount} are known`,
  );
  if (duplicates > 0) world.saw('duplicate reported');
  for (const [how, count] of Object.entries(adopted)) if (count > 0) world.saw(`adopted by ${how}`);
}
