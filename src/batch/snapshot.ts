// Converts the state into the snapshot that the next workflow run of the same batch starts from, and back (R17). A
// batch continues as new only while no group and no close are in flight. All other commands in flight are issued again,
// which is harmless. The snapshot must fit into one payload (R16), so rows are short tuples.

import type { AttemptRun } from './attempt.ts';
import { cancelRun } from './accounting/duplicates.ts';
import { cancelAllRunning, acknowledge } from './on-event/user-command.ts';
import { newLane, type Lane } from './lanes.ts';
import { OUTCOMES, type PastAttempt } from './outcome.ts';
import type { Pause, PauseKind } from './pause-kinds.ts';
import {
  type Deferral,
  type EndedRow,
  type LastAttempt,
  type RowState,
  type Running,
  type TurnedAway,
} from './row-state.ts';
import { addPart } from './parts-in-flight.ts';
import { put } from './put-row.ts';
import { begin, runningRow, unconfirmedRows, type State } from './state.ts';
import { readableVersion, WRITES } from './version.ts';

/** Fields that are copied unchanged. */
const PLAIN = [
  'params',
  'now',
  'wallAt',
  'startedWallAt',
  'serviceOffset',
  'pass',
  'wantedPass',
  'cancelledPass',
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
  'rateLimit',
  'nextStartAt',
  'peakConcurrency',
  'filesFailSince',
  'cancelling',
  'refreshIds',
  'control',
  'usualRunMs',
  'completedBy',
  'acknowledgements',
  'pendingCommands',
  'knownCommands',
  'lastFailure',
  'endings',
  'resumedAt',
  'tally',
  'ledger',
] as const satisfies readonly (keyof State)[];

type Plain = Pick<State, (typeof PLAIN)[number]>;
type RunTuple = readonly [place: number, attempt: number, runId: string];
type PastTuple = readonly [attempt: number, outcome: number, runId: string | 0, reason: string | 0];
type RowTuple = readonly [
  phase: string,
  place: number,
  attempt: number,
  tries: number,
  past: readonly PastTuple[],
  ...unknown[],
];
type EndedTuple = readonly [
  place: number,
  past: readonly PastTuple[],
  isLastTry: 0 | 1,
  deferral: Deferral | 0,
];

type LaneTuple = readonly [
  gpu: string | 0,
  segments: readonly (readonly [first: number, count: number, isAgain: 0 | 1])[],
  unpriced?: number,
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
  // Only rows that end from now on count for --fail-after.
  resumedAt: state.endings,
});

/** The state with which an ended batch goes on. The time since its end was no step of a clock. */
export const continueFrom = (closed: Snapshot, pass: number, wallAt: number): State => ({
  ...restore({ ...closed, wallAt }),
  wantedPass: pass,
  serviceOffset: undefined,
});

/** Rebuilds the state. Throws if only a newer worker can continue the batch. */
export function restore(packed: Snapshot): State {
  const version = readableVersion(packed.version);
  // An older snapshot has fewer fields.
  const known = PLAIN.filter((name) => packed[name] !== undefined);
  const plain = Object.fromEntries(known.map((name) => [name, packed[name]])) as Plain;
  const parts = new Map(packed.parts.map(([part, rows]) => [part, rows.map(readEnded)]));
  const state: State = {
    ...begin(plain.params, version, plain.wallAt),
    ...plain,
    wakeAt: plain.now,
    lanes: packed.lanes.map(readLane),
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
  resumeWork(state);
  return state;
}

/** Issues the earlier workflow run's cancels again, and acknowledges the commands that requested this run. */
function resumeWork(state: State): void {
  if (state.cancelling === 'running') cancelAllRunning(state);
  for (const number of state.overdue) {
    const { attempt, runId } = state.rows.get(number) as Running;
    cancelRun(state, { place: number, attempt, runId });
  }
  for (const id of state.refreshIds) acknowledge(state, id);
  state.refreshIds = [];
}

const packLane = ({ gpu, segments, unpriced }: Lane): LaneTuple => [
  gpu ?? 0,
  segments.map(({ first, count, isAgain }) => [first, count, isAgain ? 1 : 0] as const),
  unpriced,
];

const readLane = ([gpu, segments, unpriced = 0]: LaneTuple): Lane => ({
  ...newLane(
    gpu === 0 ? undefined : gpu,
    segments.map(([first, count, isAgain]) => ({
      first,
      count,
      ...(isAgain === 1 ? { isAgain: true } : {}),
    })),
  ),
  unpriced,
});

const packRun = ({ place, attempt, runId }: AttemptRun): RunTuple => [place, attempt, runId];
const readRun = ([place, attempt, runId]: RunTuple): AttemptRun => ({ place, attempt, runId });

const ABSENT = -1;

const packPast = ({ attempt, outcome, runId, reason }: PastAttempt): PastTuple => [
  attempt,
  outcome === 'absent' ? ABSENT : OUTCOMES.indexOf(outcome),
  runId ?? 0,
  reason ?? 0,
];

const readPast = ([attempt, outcome, runId, reason]: PastTuple): PastAttempt => ({
  attempt,
  outcome: OUTCOMES[outcome] ?? 'absent',
  ...(runId === 0 ? {} : { runId }),
  ...(reason === 0 ? {} : { reason }),
});

const packEnded = ({ place, attempts, isLastTry, deferral }: EndedRow): EndedTuple => [
  place,
  attempts.map(packPast),
  isLastTry ? 1 : 0,
  deferral ?? 0,
];

const readEnded = ([place, attempts, isLastTry, deferral]: EndedTuple): EndedRow => ({
  place,
  attempts: attempts.map(readPast),
  ...(isLastTry === 1 ? { isLastTry: true as const } : {}),
  ...(deferral === 0 ? {} : { deferral }),
});

function packRow(row: Exclude<RowState, { phase: 'sending' }>): RowTuple {
  const base = [row.place, row.attempt, row.tries, row.past.map(packPast)] as const;
  switch (row.phase) {
    case 'waiting':
      return ['w', ...base, row.dueAt, row.turnedAway ?? 0];
    case 'running':
      return ['r', ...base, row.runId, row.since, row.overdue ? [row.overdue.at, row.overdue.reason] : 0];
    case 'unconfirmed':
      return ['u', ...base, row.askedAt, row.askedWallAt, row.sentBy, row.reason, row.missedAt ?? 0];
    case 'ended':
      return [
        'e',
        ...base,
        row.at,
        OUTCOMES.indexOf(row.outcome),
        row.runId ?? 0,
        row.reason ?? 0,
        row.deferral ? [row.deferral.tries, row.deferral.notBefore] : 0,
      ];
  }
}

type Rest = {
  readonly w: [dueAt: number, turnedAway: TurnedAway | 0];
  readonly r: [runId: string, since: number, overdue: [at: number, reason: string] | 0];
  readonly u: [askedAt: number, askedWallAt: number, sentBy: number, reason: string, missedAt: number];
  readonly e: [
    at: number,
    outcome: number,
    runId: string | 0,
    reason: string | 0,
    deferral: [tries: number, notBefore: number] | 0,
  ];
};

function readRow([phase, place, attempt, tries, packed, ...rest]: RowTuple): RowState {
  const base = { place, attempt, tries, past: packed.map(readPast) };
  switch (phase) {
    case 'w': {
      const [dueAt, turnedAway] = rest as Rest['w'];
      return { ...base, phase: 'waiting', dueAt, ...(turnedAway === 0 ? {} : { turnedAway }) };
    }
    case 'r': {
      const [runId, since, overdue] = rest as Rest['r'];
      const late = overdue === 0 ? {} : { overdue: { at: overdue[0], reason: overdue[1] } };
      return { ...base, phase: 'running', runId, since, ...late };
    }
    case 'u': {
      const [askedAt, askedWallAt, sentBy, reason, missedAt] = rest as Rest['u'];
      const missed = missedAt === 0 ? {} : { missedAt };
      return { ...base, phase: 'unconfirmed', askedAt, askedWallAt, sentBy, reason, ...missed };
    }
    default: {
      const [at, outcome, runId, reason, deferral] = rest as Rest['e'];
      const end = readPast([attempt, outcome, runId, reason]) as LastAttempt;
      const waits = deferral === 0 ? {} : { deferral: { tries: deferral[0], notBefore: deferral[1] } };
      return { ...base, ...end, phase: 'ended', at, ...waits };
    }
  }
}
