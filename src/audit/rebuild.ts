// Rebuilds the state of a started batch that Temporal has lost, from its parts and the service's run list (R20). A row in a
// part has its outcome. A row with a listed run waits for that run. If the list is complete and recent enough, any other row
// has no run and is sent again, with attempt numbers that no earlier pass has used.

import { NO_LEDGER } from '../batch/accounting/request-ledger.ts';
import { NO_TALLY, tallyOutcome, type Tally } from '../batch/accounting/tally.ts';
import { ROWS_MAX } from '../batch/bounds.ts';
import { type ReadBack } from '../batch/commands.ts';
import { note, type BatchEvent } from '../batch/events.ts';
import { hasPassed, tryCanaryAgain } from '../batch/canary.ts';
import { onCancel, changeLimits } from '../batch/on-event/user-command.ts';
import type { PastAttempt } from '../batch/outcome.ts';
import { type BatchParams, WRITES } from '../batch/params.ts';
import { retryAt } from '../batch/retry-policy.ts';
import { onRung, type RowState, UNTIL_VERDICT } from '../batch/state/row-state.ts';
import { snapshot, type Snapshot } from '../batch/state/snapshot.ts';
import {
  addSegments,
  laneOf,
  numberOf,
  placeIn,
  laneWith,
  type Lane,
  type Segment,
} from '../batch/state/lanes.ts';
import { put, spendInFull } from '../batch/state/put-row.ts';
import { begin, type State } from '../batch/state/state.ts';
import { pause } from '../batch/pausing/pauses.ts';
import { problem } from '../errors/error.ts';
import { RETRIES_MAX } from '../options/bounds.ts';
import { addRecord, spentInFullIn } from '../results/tally-rows.ts';
import { type AttemptRecord, type PartRecord } from '../results/row-record.ts';
import { countRows, recordsOf } from '../results/batch-rows.ts';
import type { Part } from '../results/parts-seal.ts';
import { newestRecords, partIn, partNames, PARTS } from '../results/parts.ts';
import { readLatestSummary, summarizedPass } from '../results/summary.ts';
import { readEvents } from '../results/all-events.ts';
import type { RunService } from '../run-service/client.ts';
import { outcomeOf } from '../run-service/run-outcome.ts';
import { countEvents, countEvidence, paramsOf, type BatchFile } from '../store/batch-file.ts';
import { FIRST_PASS, newestPass, readSegments } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import { quietMsOf } from './quiet-period.ts';
import { NoList, ownRuns, leastShown, type OwnRun } from './list-runs.ts';
import { relearn, rungNow } from '../batch/ladder.ts';

/** Each pass has its own range of attempt numbers. */
const PASS_ATTEMPTS = 100;

/** From the parts: which places are done, and the totals of their rows. */
type Done = {
  readonly places: Places;
  readonly tally: Tally;
  readonly count: number;
  /** Those of them that the batch had when it ended before. */
  readonly settled: number;
  readonly runs: number;
};

export type RebuildParams = {
  readonly store: Store;
  readonly file: BatchFile;
  readonly service: Pick<RunService, 'listRuns' | 'nowMs'>;
  readonly back: ReadBack;
  /** The new pass, and the time by our own clock. */
  readonly pass: number;
  readonly now: number;
};

export type Rebuilt = {
  readonly snapshot: Snapshot;
  /** The parts on which it builds. */
  readonly parts: readonly Part[];
  readonly done: number;
  readonly running: number;
  readonly again: number;
  /** What a user wanted last: the batch sends nothing. */
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
  const runs = await readRuns(params, done, state.peakConcurrency);
  const rows = takeKnown(state.lanes, done, runs, { pass, now, policy: state.params });
  if (state.gate !== undefined && hasPassed(state.lanes, state.params)) state.gate = 'open';
  if (state.gate === 'closed') tryCanaryAgain(state.lanes);
  if (rows.length > ROWS_MAX)
    throw problem('E511', {
      batch: file.batch,
      reason: `${rows.length} rows are in progress, more than a batch can have`,
    });
  for (const run of [...runs.values()].flat()) learnFromRun(state, run);
  if (done.tally.outcomes.succeeded > (state.params.reused ?? 0)) state.trial = undefined;
  for (const row of rows) put(state, untilVerdict(state, withRungs(state, row, runs.get(row.place) ?? [])));
  const named = rows.reduce((sum, row) => sum + row.past.length + Number('runId' in row), 0) + done.runs;
  // Rows that the batch had not sent when it ended.
  const neverSent = settled - done.settled;
  state.tally = tallyOutcome(done.tally, 'cancelled', neverSent);
  state.ledger = { ...NO_LEDGER, sent: named, accepted: named };
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
    running: rows.filter(({ phase }) => phase !== 'waiting').length,
    again: rows.filter(({ phase }) => phase === 'waiting').length,
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
  for await (const one of readEvents(store)) {
    const { event, kind, limits, at } = one;
    if (limits !== undefined) changeLimits(state, limits);
    if (event === 'paused' && kind === 'user') wishes.paused = one;
    if (event === 'resumed' || (event === 'continued' && kind === 'user')) delete wishes.paused;
    if (event === 'cancelled') wishes.cancelled = one;
    // An end with results is over; rows of later passes are a new wish.
    if (at < endedAt) for (const name of ['paused', 'cancelled'] as const) delete wishes[name];
  }
  return wishes;
}

/** Adds the rows of all passes. Those of passes that have ended are settled, also if they were never sent: returns the last of these. */
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
  let [count, settled, runs, tally] = [0, 0, 0, NO_TALLY];
  for await (const record of newestRecords(store, state.params.rows)) {
    count += 1;
    if (record.row <= settledRows) settled += 1;
    runs += record.attempts.filter(({ run_id }) => run_id !== undefined).length;
    tally = addRecord(tally, record);
  }
  return { places, tally, count, settled, runs };
}

/** Runs of rows that are not done, by place. */
type Runs = ReadonlyMap<number, readonly OwnRun[]>;

async function readRuns({ file, service, back }: RebuildParams, done: Done, peakConcurrency: number) {
  const runs = new Map<number, OwnRun[]>();
  let newest = 0;
  let shown = 0;
  const isWhole = (): boolean => {
    if (shown >= leastShown(done.runs, peakConcurrency)) return true;
    throw problem('E511', {
      batch: file.batch,
      reason: `the run list shows only ${shown} of its runs, but its parts name ${done.runs}`,
    });
  };
  for await (const one of everyRun(file, service, back, isWhole)) {
    shown += 1;
    newest = Math.max(newest, one.run.createdAtMs ?? 0);
    const all = runs.get(one.place) ?? [];
    // A forged token may name a place that the batch does not have.
    const isOpen = done.places.has(one.place) === false;
    if (isOpen && all.every(({ runId }) => runId !== one.runId)) runs.set(one.place, [...all, one]);
  }
  // Both times are by the service's clock.
  const ageMs = (service.nowMs() ?? Number.POSITIVE_INFINITY) - newest;
  const quietMs = quietMsOf(file);
  if (ageMs < quietMs)
    throw problem('E511', {
      batch: file.batch,
      reason: `its last run is ${Math.round(ageMs / 1000)} s old; the run list is complete ${Math.ceil(quietMs / 1000)} s after the last run, so repeat the same command then`,
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

type RowParams = Pick<RebuildParams, 'pass' | 'now'> & { readonly policy: BatchParams };

/**
 * Takes from each segment its places up to the last one that is done or has a run; returns the rows of those that are not done. A
 * closed gate lets a later segment pass first, so that a segment tells nothing about the others.
 */
function takeKnown(lanes: readonly Lane[], done: Done, runs: Runs, params: RowParams): readonly RowState[] {
  const rows: RowState[] = [];
  for (const [at, { segments }] of lanes.entries()) {
    const named = [...runs.keys()].filter((place) => laneOf(place) === at).map(numberOf);
    for (const segment of segments.splice(0)) {
      const end = segment.first + segment.count;
      const last = named
        .filter((number) => number >= segment.first && number < end)
        .reduce((most, number) => Math.max(most, number), done.places.lastIn(at, segment));
      for (let number = segment.first; number <= last; number += 1) {
        const place = placeIn(at, number);
        if (done.places.has(place) === false) rows.push(rowOf(place, runs.get(place) ?? [], params));
      }
      if (last + 1 < end) segments.push({ ...segment, first: last + 1, count: end - last - 1 });
    }
  }
  return rows;
}

/** The state of a row from its current run; a run that has ended holds no slot. */
function rowOf(place: number, runs: readonly OwnRun[], { policy, pass, now }: RowParams): RowState {
  const firstAttempt = (pass - 1) * PASS_ATTEMPTS + 1;
  const own = chosenRun(runs);
  if (own === undefined)
    return { phase: 'waiting', place, attempt: firstAttempt, tries: 0, past: [], dueAt: now };
  const { attempt, runId } = own;
  const past = pastOf(runs, own);
  const state = outcomeOf(own.run);
  if (state.kind !== 'ended')
    return { phase: 'running', place, attempt, tries: past.length, past, runId, since: now };
  const { outcome, reason } = state;
  const ended = { place, tries: past.length + 1 };
  const dueAt = retryAt({ outcome, ...ended }, policy, now);
  if (dueAt === undefined)
    return { ...ended, phase: 'ended', attempt, past, at: now, outcome, runId, ...(reason && { reason }) };
  const again = Math.max(attempt + 1, firstAttempt);
  return { ...ended, phase: 'waiting', attempt: again, past: [...past, { attempt, runId, outcome }], dueAt };
}

/** A row's current run: one that succeeded, else one that is running, else the one of its latest attempt. */
function chosenRun(runs: readonly OwnRun[]): OwnRun | undefined {
  const rank = ({ run }: OwnRun): number => {
    const state = outcomeOf(run);
    if (state.kind !== 'ended') return 1;
    return state.outcome === 'succeeded' ? 2 : 0;
  };
  return runs.toSorted((a, b) => rank(a) - rank(b) || a.attempt - b.attempt).at(-1);
}

/** The results of its earlier attempts, one run each. No row names any other run, so it is found as a duplicate. */
function pastOf(runs: readonly OwnRun[], own: OwnRun): readonly PastAttempt[] {
  const earlier = new Map<number, PastAttempt>();
  for (const { attempt, run, runId } of runs) {
    const state = outcomeOf(run);
    if (attempt < own.attempt && state.kind === 'ended')
      earlier.set(attempt, { attempt, runId, outcome: state.outcome });
  }
  // A row has no more of them; others may make any number with its token, and all of them must fit into a snapshot.
  return [...earlier.values()].sort((a, b) => a.attempt - b.attempt).slice(-RETRIES_MAX);
}

/** A set of places of all lanes, one byte for each place. */
class Places {
  readonly #lanes: readonly Uint8Array[];

  constructor(lanes: readonly Lane[]) {
    this.#lanes = lanes.map(({ segments }) => new Uint8Array(lastIn(segments) + 1));
  }

  /** undefined if no lane has such a place. */
  has(place: number): boolean | undefined {
    const byte = this.#lanes[laneOf(place)]?.[numberOf(place)];
    return byte === undefined || numberOf(place) === 0 ? undefined : byte === 1;
  }

  add(place: number): void {
    const lane = this.#lanes[laneOf(place)];
    if (lane !== undefined) lane[numberOf(place)] = 1;
  }

  /** The number of the last one in a segment; the number before the segment if it has none. */
  lastIn(lane: number, { first, count }: Segment): number {
    const offset = this.#lanes[lane]?.subarray(first, first + count).lastIndexOf(1) ?? -1;
    return first + offset;
  }
}

const lastIn = (segments: readonly Segment[]): number =>
  segments.reduce((most, { first, count }) => Math.max(most, first + count - 1), 0);

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
    const run = runs.find((one) => one.attempt === attempt)?.run;
    return Math.max(0, ladder.indexOf(run?.gpu ?? ''));
  };
  const past: readonly PastAttempt[] = row.past.map((one) => ({ ...one, rung: rungOf(one.attempt) }));
  const rung = row.phase === 'waiting' ? rungNow(state, row.place) : rungOf(row.attempt);
  return { ...row, past, ...onRung(rung) };
}

/** While no row has succeeded, a row whose run failed waits, as in a batch that goes on. */
const untilVerdict = ({ trial }: State, row: RowState): RowState =>
  trial !== undefined && row.phase === 'waiting' && row.tries > 0 ? { ...row, dueAt: UNTIL_VERDICT } : row;
