// The rows of a rebuilt batch that no part has, each from the runs that the list shows:
//
//   has a run ──▶ running or ended, or waiting for a retry
//   no run, the list shows every run of the row ──▶ not sent, or waiting if later places of its segment were sent
//   no run, the service may have deleted it ──▶ unconfirmed, so that --unconfirmed decides (R12)

import { MAX_ROWS } from '../batch/bounds.ts';
import type { PastAttempt } from '../batch/outcome.ts';
import type { BatchParams } from '../batch/params.ts';
import { retryAt } from '../batch/run-retries.ts';
import type { RowState, UnconfirmedRow } from '../batch/state/row-state.ts';
import { laneOf, numberOf, placeIn, type Lane, type Segment } from '../batch/state/lanes.ts';
import { MAX_RETRIES } from '../options/bounds-and-defaults.ts';
import { outcomeOf } from '../service-client/run-outcome.ts';
import type { OwnRun } from './list-runs.ts';

/** Each pass has its own range of attempt numbers. */
const PASS_ATTEMPTS = 100;

/** Runs of rows that are not done, by place. */
export type Runs = ReadonlyMap<number, readonly OwnRun[]>;

/** When rows were sent whose run the service may have deleted. */
export type Doubt = Pick<UnconfirmedRow, 'askedAt' | 'askedWallAt' | 'sentBy'>;

type RowParams = {
  readonly pass: number;
  readonly now: number;
  readonly policy: BatchParams;
  /** Absent if the list shows every run of the batch. */
  readonly doubt?: Doubt | undefined;
};

/**
 * Takes from each segment its places up to the last one that is done or has a run; returns the rows of those that are not done. A
 * closed gate lets a later segment pass first, so that a segment tells nothing about the others.
 */
export function takeKnown(
  lanes: readonly Lane[],
  done: Places,
  runs: Runs,
  params: RowParams,
): readonly RowState[] {
  const rows: RowState[] = [];
  for (const [at, { segments }] of lanes.entries()) {
    const named = [...runs.keys()].filter((place) => laneOf(place) === at).map(numberOf);
    for (const [index, segment] of segments.entries()) {
      const end = segment.first + segment.count;
      const last = named
        .filter((number) => number >= segment.first && number < end)
        .reduce((most, number) => Math.max(most, number), done.lastIn(at, segment));
      for (let number = segment.first; number <= last; number += 1) {
        const place = placeIn(at, number);
        if (done.has(place) === false) rows.push(rowOf(place, runs.get(place) ?? [], params));
      }
      segments[index] = { ...segment, first: last + 1, count: end - last - 1 };
    }
  }
  if (params.doubt !== undefined) takeDoubtful(lanes, rows, params.doubt, params);
  for (const { segments } of lanes)
    segments.splice(0, Infinity, ...segments.filter(({ count }) => count > 0));
  return rows;
}

/**
 * Adds the next places of each lane that may have been sent. A row that was sent is in the state of its batch until a part has it, and
 * a state has room for MAX_ROWS rows. How these were spread over the lanes is unknown, so all lanes together may have more
 * candidates than a state has room for: the caller refuses them.
 */
function takeDoubtful(lanes: readonly Lane[], rows: RowState[], doubt: Doubt, params: RowParams): void {
  const most = Math.max(0, MAX_ROWS - rows.length);
  // Without a canary, a lane is sent from its first place to its last one.
  const isInOrder = params.policy.canary === undefined;
  for (const [at, { segments }] of lanes.entries()) {
    let left = most;
    for (const [index, { first, count, ...segment }] of segments.entries()) {
      const taken = Math.min(count, isInOrder ? left : most);
      left -= taken;
      for (let number = first; number < first + taken; number += 1)
        rows.push(doubtfulRow(placeIn(at, number), doubt, params));
      segments[index] = { ...segment, first: first + taken, count: count - taken };
    }
  }
}

const firstAttemptOf = ({ pass }: Pick<RowParams, 'pass'>): number => (pass - 1) * PASS_ATTEMPTS + 1;

/** A row in doubt. One attempt, the first of the new pass, stands for every attempt that may have been sent, so its token is new. */
const doubtfulRow = (
  place: number,
  { askedAt, askedWallAt, sentBy }: Doubt,
  params: RowParams,
): UnconfirmedRow => ({
  phase: 'unconfirmed',
  place,
  attempt: firstAttemptOf(params),
  tries: 0,
  past: [],
  askedAt,
  askedWallAt,
  sentBy,
  reason: MAY_BE_DELETED,
});

const MAY_BE_DELETED = 'the service may have deleted its run';

/** The state of a row from its current run; a run that has ended holds no slot. */
function rowOf(place: number, runs: readonly OwnRun[], params: RowParams): RowState {
  const { policy, now, doubt } = params;
  const firstAttempt = firstAttemptOf(params);
  const own = chosenRun(runs);
  if (own === undefined && doubt !== undefined) return doubtfulRow(place, doubt, params);
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
  return [...earlier.values()].sort((a, b) => a.attempt - b.attempt).slice(-MAX_RETRIES);
}

/** A set of places of all lanes, one byte for each place. */
export class Places {
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
