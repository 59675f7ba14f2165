// Converts the state into the snapshot that the next workflow run of the same batch starts from, and back (R17). A
// batch continues as new only while no group and no close are in flight. All other commands in flight are issued again,
// which is harmless. The snapshot must fit into one payload (R16), so rows are short tuples.

import { cancelRun } from '../accounting/duplicates.ts';
import { p99Cost, type RunCosts } from '../accounting/cost-histogram.ts';
import { acknowledge, cancelAllRunning } from '../on-event/user-command.ts';
import type { Pause, PauseKind } from '../pausing/pause-kinds.ts';
import { rejoined, unreported } from '../pool/messages.ts';
import type { AdaptiveCap } from '../useful-concurrency.ts';
import { readableVersion, WRITES } from '../behaviour-version.ts';
import { accountsOf, type Climb, type Lane, newClimbingLane, newLane, type Segment } from './lanes.ts';
import { put, addPart } from './put-row.ts';
import {
  type EndedTuple,
  packEnded,
  packRow,
  packRun,
  readEnded,
  readRow,
  readRun,
  type RowTuple,
  type RunTuple,
} from './packed-rows.ts';
import type { RunningRow } from './row-state.ts';
import { NEW_TRIAL, begin, runningRow, type Overdue, type State, unconfirmedRows } from './state.ts';

/** Fields that are copied unchanged. */
const PLAIN = [
  'params',
  'now',
  'wallAt',
  'startedWallAt',
  'serviceOffset',
  'serviceRead',
  'gate',
  'trial',
  'pass',
  'wantedPass',
  'cancelledPass',
  'triedPass',
  'passCommands',
  'again',
  'evidenceFiles',
  'log',
  'logDueAt',
  'logFiles',
  'isEvidenceLost',
  'nextGroup',
  'nextPart',
  'nextPoll',
  'nextCancel',
  'holdUntil',
  'consecutiveFailures',
  'trouble',
  'unclearSince',
  'rateLimit',
  'membership',
  'leaves',
  'nextStartAt',
  'peakConcurrency',
  'filesFailSince',
  'filesFineAt',
  'filesFault',
  'cancelling',
  'refreshIds',
  'control',
  'usualRunMs',
  'completedBy',
  'acknowledgements',
  'pendingCommands',
  'leasedUntil',
  'knownCommands',
  'lastFailure',
  'failures',
  'endings',
  'resumedAt',
  'tally',
  'ledger',
  'notified',
  'notices',
  'nextNotice',
] as const satisfies readonly (keyof State)[];

type Plain = Pick<State, (typeof PLAIN)[number]>;
/** 0: rows that were never sent, 1: rows that are sent again, 2: the canary, 3: rows of the canary that are sent again. */
type SegmentKind = 0 | 1 | 2 | 3;
type LaneTuple = readonly [
  gpu: string | 0,
  segments: readonly (readonly [first: number, count: number, kind: SegmentKind])[],
  unpriced?: number,
  climb?: 0 | readonly [size: number, rung: number, isProven: 0 | 1, unpriced: readonly number[]],
  /** The costs of the lane, or of each of its rungs. */
  costs?: readonly (RunCosts | 0)[],
  adaptive?: AdaptiveCap,
];

export type Snapshot = Plain & {
  readonly version: number;
  readonly lanes: readonly LaneTuple[];
  readonly rows: readonly RowTuple[];
  readonly parts: readonly (readonly [part: number, rows: readonly EndedTuple[]])[];
  readonly pauses: readonly (readonly [kind: PauseKind, pause: Pause])[];
  readonly reconcileAt: number;
  readonly abandoned: readonly string[];
  readonly reported: readonly string[];
  readonly evidence: readonly RunTuple[];
  /** Duplicates only: the cancels of rows' own runs are restored from the rows. */
  readonly cancels: readonly RunTuple[];
};

/** Whether a snapshot is allowed: the next workflow run would miss the result of a group or a close in flight. */
export const maySnapshot = ({ groups, closing }: State): boolean => groups.size === 0 && !closing;

/** The snapshot from which `restore` rebuilds the state. Throws unless {@link maySnapshot}. */
export function snapshot(state: State): Snapshot {
  if (!maySnapshot(state))
    throw new Error(`the state cannot travel: ${state.groups.size} groups are in flight`);
  const plain = Object.fromEntries(PLAIN.map((name) => [name, state[name]])) as Plain;
  const rows = [...state.rows.values()].filter((row) => row.phase === 'waiting' || row.phase === 'running');
  const queued = [...unconfirmedRows(state), ...state.ended, ...state.deferred];
  const duplicates = [...state.cancels.values()].filter(
    (run) => runningRow(state, run.place)?.runId !== run.runId,
  );
  return {
    ...plain,
    version: Math.max(state.version, WRITES),
    lanes: state.lanes.map(packLane),
    rows: [...rows, ...queued].map(packRow),
    parts: [...state.parts].map(([part, ended]) => [part, ended.map(packEnded)] as const),
    pauses: [...state.pauses],
    reconcileAt: state.reconcile.nextAt,
    abandoned: [...state.abandoned],
    reported: [...state.reported],
    evidence: [...state.evidence.values()].map(packRun),
    cancels: duplicates.map(packRun),
  };
}

/** The state of a batch that closes, from which a later pass continues. */
export const closedSnapshot = (state: State): Snapshot => ({
  ...snapshot({ ...state, closing: false, cancelling: undefined }),
  log: [],
  notices: [],
  // Only rows that end from now on count for --fail-after, and in the trial.
  resumedAt: state.endings,
  trial: state.trial && NEW_TRIAL,
});

/** The state with which an ended batch continues. The time since its end is no step of the clock. */
export function continueFrom(closed: Snapshot, pass: number, wallAt: number): State {
  const state = restore({ ...closed, wallAt });
  return {
    ...state,
    ...(closed.membership === undefined ? {} : { membership: rejoined(closed.membership, state) }),
    wantedPass: pass,
  };
}

/** Rebuilds the state. Throws if only a newer worker can continue the batch. */
export function restore(packed: Snapshot): State {
  const version = readableVersion(packed.version);
  // An older snapshot has fewer fields.
  const present = PLAIN.filter((name) => packed[name] !== undefined);
  const plain = Object.fromEntries(present.map((name) => [name, packed[name]])) as Plain;
  const parts = new Map(packed.parts.map(([part, rows]) => [part, rows.map(readEnded)]));
  const state: State = {
    ...begin(plain.params, version, plain.wallAt),
    // A batch that has come from an older version goes on without a trial.
    trial: undefined,
    ...plain,
    wakeAt: plain.now,
    ...(plain.membership === undefined ? {} : { membership: unreported(plain.membership) }),
    lanes: packed.lanes.map((lane) => readLane(lane, plain.params.ladder)),
    // Every part is collected again.
    unstored: new Set(parts.keys()),
    pauses: new Map(packed.pauses),
    reconcile: { nextAt: packed.reconcileAt, readings: 0 },
    abandoned: new Set(packed.abandoned),
    reported: new Set(packed.reported),
    evidence: new Map(packed.evidence.map((run) => [run[2], readRun(run)])),
    cancels: new Map(packed.cancels.map((run) => [run[2], readRun(run)])),
  };
  for (const [part, rows] of parts) addPart(state, part, rows);
  for (const row of packed.rows) put(state, readRow(row));
  if (version >= 6) orderOverdue(state);
  resumeWork(state);
  return state;
}

/** Rows are packed in the order in which they were sent, and overdue ones are known oldest first. */
function orderOverdue({ overdue, rows }: State): void {
  const since = (place: number): number => (rows.get(place) as Overdue).overdue.at;
  const oldestFirst = [...overdue].sort((a, b) => since(a) - since(b));
  overdue.clear();
  for (const place of oldestFirst) overdue.add(place);
}

/** Issues the earlier workflow run's cancels again, and acknowledges the commands that requested this run. */
function resumeWork(state: State): void {
  if (state.cancelling === 'running') cancelAllRunning(state);
  for (const number of state.overdue) {
    const { attempt, runId } = state.rows.get(number) as RunningRow;
    cancelRun(state, { place: number, attempt, runId });
  }
  for (const id of state.refreshIds) acknowledge(state, id);
  state.refreshIds = [];
}

function packLane(unpacked: Lane): LaneTuple {
  const { gpu, segments, unpriced, climb, adaptive } = unpacked;
  const packed = segments.map((segment) => [segment.first, segment.count, kindOf(segment)] as const);
  const costs = accountsOf(unpacked).map((account) => account.costs ?? 0);
  const lane = [gpu ?? 0, packed, unpriced] as const;
  const packedClimb = climb ? packClimb(climb) : 0;
  if (adaptive !== undefined) return [...lane, packedClimb, costs, adaptive];
  if (costs.some((cost) => cost !== 0)) return [...lane, packedClimb, costs];
  return packedClimb === 0 ? lane : [...lane, packedClimb];
}

const kindOf = ({ isAgain, isCanary }: Segment): SegmentKind =>
  ((isAgain ? 1 : 0) + (isCanary ? 2 : 0)) as SegmentKind;

const packClimb = ({ size, rung, isProven, rungs }: Climb) =>
  [size, rung, isProven ? 1 : 0, rungs.map(({ unpriced }) => unpriced)] as const;

function readLane(tuple: LaneTuple, ladder: readonly string[] = []): Lane {
  const lane = readAccounts(tuple, ladder);
  const [, , , , costs = [], adaptive] = tuple;
  if (adaptive !== undefined) lane.adaptive = adaptive;
  for (const [at, account] of accountsOf(lane).entries()) {
    account.costs = costs[at] || undefined;
    account.p99Nano = p99Cost(account.costs);
  }
  return lane;
}

function readAccounts([gpu, packed, unpriced = 0, climb = 0]: LaneTuple, ladder: readonly string[]): Lane {
  const segments = packed.map(([first, count, kind]) => ({
    first,
    count,
    ...(kind % 2 === 1 ? { isAgain: true as const } : {}),
    ...(kind >= 2 ? { isCanary: true as const } : {}),
  }));
  if (climb === 0) return { ...newLane(gpu === 0 ? undefined : gpu, segments), unpriced };
  const [size, rung, isProven, spent] = climb;
  const lane = newClimbingLane(size, ladder, segments);
  const rungs = lane.climb.rungs.map((account, at) => ({ ...account, unpriced: spent[at] as number }));
  return { ...lane, climb: { size, rung, isProven: isProven === 1, rungs } };
}
