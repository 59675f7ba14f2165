// Rebuilds the state of a started batch that Temporal has lost, from its parts and the service's run list (R20). A row in a
// part has its outcome. A row with a listed run waits for that run. If the list is complete and recent enough, any other row
// has no run and is sent again, with attempt numbers that no earlier pass has used. If the service may have deleted runs, a row
// without a run that may have been sent by then is unconfirmed.

import { NO_LEDGER } from '../batch/accounting/request-ledger.ts';
import { NO_TALLY, tallyOutcome, type Tally } from '../batch/accounting/tally.ts';
import { MAX_ROWS } from '../batch/bounds.ts';
import { type ReadBack } from '../batch/commands.ts';
import { note, type BatchEvent } from '../batch/events.ts';
import { hasPassed, tryCanaryAgain } from '../batch/canary.ts';
import { changeLimits } from '../batch/on-event/change-limits.ts';
import { onCancel } from '../batch/on-event/user-command.ts';
import type { PastAttempt } from '../batch/outcome.ts';
import { PROOF_BACK_MS } from '../batch/decisions/reconcile.ts';
import { WRITES } from '../batch/behaviour-version.ts';
import { onRung, type RowState, UNTIL_VERDICT } from '../batch/state/row-state.ts';
import { snapshot, type Snapshot } from '../batch/state/snapshot.ts';
import { addSegments, laneOf, placeIn, laneWith, type Lane } from '../batch/state/lanes.ts';
import { put, spendInFull } from '../batch/state/put-row.ts';
import { begin, type State } from '../batch/state/state.ts';
import { pause } from '../batch/pausing/pauses.ts';
import { problem } from '../errors/error.ts';
import { addRecord, spentInFullIn } from '../results/tally-rows.ts';
import { type AttemptRecord, type PartRecord } from '../results/row-record.ts';
import { countRows, recordsOf } from '../results/batch-rows.ts';
import type { PartNumber } from '../results/parts-seal.ts';
import { newestRecords } from '../results/newest-parts.ts';
import { partIn, partNames, PARTS } from '../results/parts.ts';
import { readLatestSummary, summarizedPass } from '../results/summary.ts';
import { readEvents } from '../results/all-events.ts';
import type { RunService } from '../service-client/client.ts';
import type { Run } from '../service-client/contract/run.ts';
import { outcomeOf } from '../service-client/run-outcome.ts';
import { countEvents, countEvidence, paramsOf, type BatchFile } from '../store/batch-file.ts';
import { FIRST_PASS, newestPass, readSegments } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import { quietMsOf } from './quiet-period.ts';
import { ListReach } from './list-reach.ts';
import { NoList, listRuns, ownRun, leastShown, type ListParams, type OwnRun } from './list-runs.ts';
import { Places, takeKnown, type Doubt, type Runs } from './rebuilt-rows.ts';
import { relearn, rungNow } from '../batch/ladder.ts';
import { span } from '../options/text/printed-numbers.ts';

/** From the parts: which places are done, and the totals of their rows. */
type Done = {
  readonly places: Places;
  readonly tally: Tally;
  readonly count: number;
  /** How many of them the batch had at its last end. */
  readonly settled: number;
  readonly runs: number;
  /** When each of these runs ended, by the service's clock; NaN: the record does not say. */
  readonly ends: readonly number[];
};

export type RebuildParams = {
  readonly store: Store;
  readonly file: BatchFile;
  readonly service: Pick<RunService, 'listRuns' | 'nowMs'>;
  readonly back: ReadBack;
  /** The new pass, and the time by our own clock. */
  readonly pass: number;
  readonly now: number;
  /** For how long the service lists a run that has ended; absent: as long as every service does. */
  readonly listedMs?: number | undefined;
};

export type Rebuilt = {
  readonly snapshot: Snapshot;
  /** The parts on which it builds. */
  readonly parts: readonly PartNumber[];
  readonly done: number;
  readonly running: number;
  readonly again: number;
  /** Rows without a run in the list that may have one, because the service may have deleted it. */
  readonly unconfirmed: number;
  /** The last command of a user, if it keeps the batch from sending. */
  readonly stays?: 'paused' | 'cancelled';
};

/** Throws E511 if the run list cannot show what was bought. */
export async function rebuild(params: RebuildParams): Promise<Rebuilt> {
  const { file, back, pass, now } = params;
  const parts = await partNames(params.store);
  const store = withParts(params.store, parts);
  const state = begin(paramsOf(file, { webhooks: file.webhooks, lists: true, pass }), WRITES, now);
  state.serviceOffset = back.offset;
  state.evidenceFiles = await countEvidence(store);
  state.logFiles = await countEvents(store);
  const wishes = await applyWishes(state, store);
  note(state, { event: 'rebuilt' });
  const ended = await addPasses(state, store);
  const settled = ended === undefined ? 0 : await countRows(store, file, ended);
  state.params = { ...state.params, rows: await countRows(store, file) };
  const done = await readParts(store, state, settled);
  state.again = countAgain(state.lanes, done);
  const { runs, sinceMs } = await readRuns(params, done, state.peakConcurrency);
  const doubt = sinceMs === undefined ? undefined : doubtOf(params, sinceMs);
  const rows = takeKnown(state.lanes, done.places, runs, { pass, now, policy: state.params, doubt });
  if (state.gate !== undefined && hasPassed(state.lanes, state.params)) state.gate = 'open';
  if (state.gate === 'closed') tryCanaryAgain(state.lanes);
  if (rows.length > MAX_ROWS)
    throw problem('E511', {
      batch: file.batch,
      reason:
        doubt === undefined
          ? `${rows.length} rows are in progress, more than a batch can have`
          : `the service may have deleted runs of it, and ${rows.length} rows may have been sent; a batch can have ${MAX_ROWS} rows in doubt`,
    });
  for (const run of [...runs.values()].flat()) learnFromRun(state, run);
  if (done.tally.outcomes.succeeded > (state.params.reused ?? 0)) state.trial = undefined;
  for (const row of rows) put(state, untilVerdict(state, withRungs(state, row, runs.get(row.place) ?? [])));
  const named = rows.reduce((sum, row) => sum + row.past.length + Number('runId' in row), 0) + done.runs;
  // Rows that the batch had not sent when it ended.
  const neverSent = settled - done.settled;
  state.tally = tallyOutcome(done.tally, 'cancelled', neverSent);
  const phases = rows.map(({ phase }) => phase);
  const unconfirmed = phases.filter((phase) => phase === 'unconfirmed').length;
  const again = phases.filter((phase) => phase === 'waiting').length;
  state.ledger = { ...NO_LEDGER, sent: named + unconfirmed, accepted: named, unconfirmed };
  const { paused, cancelled } = wishes;
  if (cancelled) onCancel(state, { ...cancelled, type: 'cancel', running: cancelled.running === true });
  else if (paused) pause(state, 'user', paused.reason ?? 'paused by a user');
  const stays = cancelled ? ('cancelled' as const) : paused && ('paused' as const);
  return {
    ...(stays && { stays }),
    // The final read of the run list must reach the runs of the first pass.
    snapshot: { ...snapshot(state), startedWallAt: now - back.agoMs },
    parts: parts.map(partIn),
    done: done.count,
    running: rows.length - unconfirmed - again,
    again,
    unconfirmed,
  };
}

/** The store without parts that are written from now on. */
const withParts = (store: Store, names: readonly string[]): Store => ({
  ...store,
  list: async (folder) => (folder === PARTS ? names : store.list(folder)),
});

type Wishes = { paused?: BatchEvent; cancelled?: BatchEvent };

/** Changes the limits as users have, and finds a pause or a cancel that is still in force. */
async function applyWishes(state: State, store: Store): Promise<Wishes> {
  const endedAt = Date.parse((await readLatestSummary(store))?.ended_at ?? '') || 0;
  const wishes: Wishes = {};
  for await (const entry of readEvents(store)) {
    const { event, kind, limits, at } = entry;
    if (limits !== undefined) changeLimits(state, limits);
    if (event === 'paused' && kind === 'user') wishes.paused = entry;
    if (event === 'resumed' || (event === 'continued' && kind === 'user')) delete wishes.paused;
    if (event === 'cancelled') wishes.cancelled = entry;
    // An end with results is over; rows of later passes are a new wish.
    if (at < endedAt) for (const name of ['paused', 'cancelled'] as const) delete wishes[name];
  }
  return wishes;
}

/** Adds the rows of all passes. Those of passes that have ended are settled, even if they were never sent: returns the last of these. */
async function addPasses({ lanes }: State, store: Store): Promise<number | undefined> {
  const ended = await summarizedPass(store);
  addSegments(lanes, await readSegments(store, FIRST_PASS, ended ?? FIRST_PASS));
  if (ended !== undefined) for (const { segments } of lanes) segments.length = 0;
  addSegments(lanes, await readSegments(store, ended ?? FIRST_PASS, await newestPass(store)));
  return ended;
}

/** Rows that are sent again and have no new outcome. */
function countAgain(lanes: readonly Lane[], { places }: Done): number {
  let again = 0;
  for (const [at, { segments }] of lanes.entries())
    for (const { first, count, isAgain } of segments)
      if (isAgain)
        for (let number = first; number < first + count; number += 1)
          if (places.has(placeIn(at, number)) === false) again += 1;
  return again;
}

async function readParts(store: Store, state: State, settledRows: number): Promise<Done> {
  const places = new Places(state.lanes);
  for await (const record of recordsOf(store)) {
    places.add(record.place);
    if (state.lanes[laneOf(record.place)]) learnFromRecord(state, record);
  }
  let [count, settled, tally] = [0, 0, NO_TALLY];
  const ends: number[] = [];
  for await (const record of newestRecords(store, state.params.rows)) {
    count += 1;
    if (record.row <= settledRows) settled += 1;
    for (const { run_id, ended_at = '' } of record.attempts)
      if (run_id !== undefined) ends.push(Date.parse(ended_at));
    tally = addRecord(tally, record);
  }
  return { places, tally, count, settled, runs: ends.length, ends };
}

type RunsRead = {
  readonly runs: Runs;
  /** The list shows only runs that ended later, by the service's clock; absent if it shows every run of the batch. */
  readonly sinceMs: number | undefined;
};

async function readRuns(params: RebuildParams, done: Done, peakConcurrency: number): Promise<RunsRead> {
  const { file, service, now, listedMs } = params;
  const runs = new Map<number, OwnRun[]>();
  const reach = new ListReach(file.service, listedMs);
  const serviceNowMs = (): number => service.nowMs() ?? now;
  const back = furtherBack(params);
  let newest = 0;
  let shown = 0;
  const isWhole = (): boolean => {
    const sinceMs = reach.sinceMs(serviceNowMs());
    // A record without the end of its run counts.
    const listed = done.ends.filter((endMs) => !(endMs < sinceMs)).length;
    if (shown >= leastShown(listed, peakConcurrency)) return true;
    throw problem('E511', {
      batch: file.batch,
      reason: `the run list shows only ${shown} of its runs, but its parts name ${listed}`,
    });
  };
  for await (const page of pagesOf(params, { back, reach, isWhole })) {
    for (const own of page.flatMap((run) => ownRun(file, run))) {
      shown += 1;
      newest = Math.max(newest, own.run.createdAtMs ?? 0);
      const earlier = runs.get(own.place) ?? [];
      // A forged token may name a place that the batch does not have.
      const isOpen = done.places.has(own.place) === false;
      if (isOpen && earlier.every(({ runId }) => runId !== own.runId)) runs.set(own.place, [...earlier, own]);
    }
  }
  // The service's clock gives both times.
  const ageMs = (service.nowMs() ?? Number.POSITIVE_INFINITY) - newest;
  const quietMs = quietMsOf(file);
  if (ageMs < quietMs)
    throw problem('E511', {
      batch: file.batch,
      reason: `its last run is ${span(ageMs / 1_000)} old; the run list is complete ${span(quietMs / 1_000)} after the last run, so repeat the same command then`,
    });
  const nowMs = serviceNowMs();
  return { runs, sinceMs: reach.covers(nowMs, back) ? undefined : reach.sinceMs(nowMs) };
}

/** A list that proves that a row has no run is read as far back as for an attempt of a batch that goes on (R11). */
const furtherBack = ({ back }: Pick<RebuildParams, 'back'>): ReadBack => ({
  ...back,
  agoMs: back.agoMs + PROOF_BACK_MS,
});

/** The doubt about rows whose runs have ended by `sinceMs`. The time of a pass limits it no further: a wrong clock proves nothing. */
function doubtOf({ service, back, now }: RebuildParams, sinceMs: number): Doubt {
  const offset = Math.min((service.nowMs() ?? now) - now, back.offset?.min ?? Number.POSITIVE_INFINITY);
  const askedAt = now - back.agoMs;
  const sentBy = Math.max(askedAt, Math.min(now, sinceMs - offset));
  return { askedAt, askedWallAt: askedAt, sentBy };
}

const PAGE_TRIES = 5;

async function* pagesOf(
  { file, service }: RebuildParams,
  reading: Pick<ListParams, 'back' | 'reach' | 'isWhole'>,
): AsyncGenerator<readonly Run[]> {
  try {
    const { workflowId } = file.deployment;
    yield* listRuns({ ...reading, service, workflowId, tries: PAGE_TRIES });
  } catch (error) {
    if (error instanceof NoList) throw problem('E511', { batch: file.batch, reason: error.message });
    throw error;
  }
}

/** The rung of an attempt in a part; -1 if it was on none. */
const rungOfRecord = ({ params }: State, { gpu_asked = '' }: AttemptRecord): number =>
  (params.ladder ?? []).indexOf(gpu_asked);

/** Also counts the attempts whose cost nothing says. */
function learnFromRecord(state: State, record: PartRecord & { readonly place: number }): void {
  const { place, attempts, before } = record;
  for (const attempt of spentInFullIn(record)) spendInFull(state, place, rungOfRecord(state, attempt));
  for (const attempt of attempts.slice(before?.attempts ?? 0)) {
    const { outcome, failure } = attempt;
    relearn(state, place, rungOfRecord(state, attempt), {
      outcome: outcome === 'absent' ? 'cancelled' : outcome,
      failure,
    });
  }
}

/** The run list names the GPU that a run used. The log, which says why a run failed, is not read. */
function learnFromRun(state: State, { place, run }: OwnRun): void {
  const end = outcomeOf(run);
  const rung = (state.params.ladder ?? []).indexOf(run.gpu ?? '');
  relearn(state, place, rung, { outcome: end.kind === 'ended' ? end.outcome : 'cancelled' });
}

/** A row with the rungs of its attempts; an attempt that has no run yet starts where its lane is. */
function withRungs(state: State, row: RowState, runs: readonly OwnRun[]): RowState {
  if (laneWith(state, row.place).climb === undefined) return row;
  const { ladder = [] } = state.params;
  const rungOf = (attempt: number): number => {
    const run = runs.find((own) => own.attempt === attempt)?.run;
    return Math.max(0, ladder.indexOf(run?.gpu ?? ''));
  };
  const past: readonly PastAttempt[] = row.past.map((earlier) => ({
    ...earlier,
    rung: rungOf(earlier.attempt),
  }));
  const isNamed = runs.some(({ attempt }) => attempt === row.attempt);
  const rung = isNamed ? rungOf(row.attempt) : rungNow(state, row.place);
  return { ...row, past, ...onRung(rung) };
}

/** While no row has succeeded, a row whose run failed waits, as in a batch that goes on. */
const untilVerdict = ({ trial }: State, row: RowState): RowState =>
  trial !== undefined && row.phase === 'waiting' && row.tries > 0 ? { ...row, dueAt: UNTIL_VERDICT } : row;
