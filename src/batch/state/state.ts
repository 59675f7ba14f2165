// Defines the state of a batch; put-row.ts has the only functions that change a row's phase. `step` changes the state in place:
// copying ten thousand rows for each run that ends would cost more than the rest of the step.

import { NO_LEDGER, type RequestLedger } from '../accounting/request-ledger.ts';
import { NO_TALLY, tallyOutcome, type Tally } from '../accounting/tally.ts';
import { type BatchEvent, type StoreItem } from '../events.ts';
import type { Outcome, AttemptRef, AttemptRun, FailureCounts } from '../outcome.ts';
import { NO_ENDS, type AlikeEnds } from '../alike-ends.ts';
import { accountsOf, lanesOf, unsentIn, type Lane } from './lanes.ts';
import type { BatchParams } from '../params.ts';
import type { Pause, PauseKind } from '../pausing/pause-kinds.ts';
import type { Notice } from '../notices/notice.ts';
import { newMembership, type Leave, type Membership } from '../pool/messages.ts';
import type {
  Deferred,
  UncollectedRow,
  EndedRow,
  Phase,
  RowState,
  RunningRow,
  UnconfirmedRow,
  WaitingRow,
} from './row-state.ts';

/** The batch's answer to a command, given when the command is in force. */
export type Acknowledgement = { readonly id: string; readonly ok: boolean; readonly note?: string };

/** A command that is in force when the groups up to number `upTo` have ended. */
export type PendingCommand = Omit<Acknowledgement, 'id'> & {
  readonly id: string | undefined;
  readonly kind: 'pause' | 'scale' | 'cancel';
  readonly upTo: number;
};

/** See sending-limits/rate-limit.ts. */
export type RateLimit = {
  /** Milliseconds between two attempts; 0 for no limit. */
  readonly gapMs: number;
  readonly nextAt: number;
};

export const NO_LIMIT: RateLimit = { gapMs: 0, nextAt: 0 };

/** A group in flight, and when its command was issued, by the batch's clock and by Temporal's. */
export type Group = {
  readonly attempts: readonly AttemptRef[];
  readonly at: number;
  readonly wallAt: number;
  /** The worker was asked to start no further POST. */
  readonly isStopped?: true;
};

/** See trial.ts. */
export type Trial = {
  /** Attempts that have ended without success. */
  readonly ends: AlikeEnds;
  /** Since when nothing is sent. */
  readonly heldAt?: number;
  /** Likenesses that held a batch of version 6 until its user resumed it. */
  readonly overruled: readonly string[];
  /** How often a user has resumed the batch out of its pause (default: 0). */
  readonly resumes?: number;
};
export const NEW_TRIAL: Trial = { ends: NO_ENDS, overruled: [] };

/** How many rows have ended, and how many of them without success. */
type Endings = { readonly all: number; readonly bad: number };
const NO_ENDINGS: Endings = { all: 0, bad: 0 };

/** The fields of the state, and how each begins. */
class StateAtStart {
  /** A user may change the limits in it while the batch runs. */
  params: BatchParams;
  /** See params.ts. */
  readonly version: number;
  /** The batch's own clock in milliseconds; see clock.ts. All times in the state are on this clock. */
  now: number;
  /** Temporal's time at the last step, for display. */
  wallAt: number;
  /** Temporal's time when the batch started. */
  readonly startedWallAt: number;
  /** The service's time minus Temporal's: the smallest and largest difference seen. */
  serviceOffset?: { readonly min: number; readonly max: number } | undefined;
  /** When the latest reading of the lists that says the service's time was requested, and this time. */
  serviceRead?: { readonly at: number; readonly serviceAt: number } | undefined;
  /** When the last step asked to be woken. */
  wakeAt: number;
  readonly lanes: Lane[];
  /** In a batch with a canary: which rows may be sent. */
  gate?: 'closed' | 'open' | undefined;
  /** Whether rows may be bought again; undefined once a row has succeeded. See trial.ts. */
  trial?: Trial | undefined;
  /** The newest pass whose rows are in the lanes, and the newest that a user asked for. */
  pass: number;
  wantedPass: number;
  /** Passes up to this one are loaded without their rows: a user cancelled them before. */
  cancelledPass = 0;
  /** The newest cancelled pass that was tried once more after the results were written. */
  triedPass?: number | undefined;
  isLoadingPass = false;
  /** Commands that asked for a pass. */
  passCommands: readonly { readonly id: string | undefined; readonly pass: number }[] = [];
  /** Rows that had an outcome and have no new one yet. */
  again = 0;
  /** The rows in the state, by place. */
  readonly rows = new Map<number, RowState>();
  readonly phases: Record<Phase, number> = { waiting: 0, sending: 0, running: 0, unconfirmed: 0, ended: 0 };
  /** The bytes that `rows` and `parts` take in a snapshot; never an underestimate. */
  bytes = 0;
  /** Ended rows, oldest first; and ended rows whose files are fetched later, sorted by that time. */
  readonly ended: UncollectedRow[] = [];
  readonly deferred: Deferred[] = [];
  /** Rows in phase unconfirmed, oldest first. */
  readonly unconfirmed: number[] = [];
  /** Rows whose runs belong to no poll, oldest first; and rows whose runs are cancelled because they take too long. */
  readonly unpolled = new Set<number>();
  readonly overdue = new Set<number>();
  readonly groups = new Map<number, Group>();
  /** Parts being collected: the rows of each. */
  readonly parts = new Map<number, readonly EndedRow[]>();
  /** Polls in flight: the runs of each. */
  readonly polls = new Map<number, readonly AttemptRun[]>();
  /** Runs to cancel, by run id; and the runs of each cancel command in flight. */
  readonly cancels = new Map<string, AttemptRun>();
  readonly cancelsInFlight = new Map<number, readonly AttemptRun[]>();
  /** Runs that match no row in the state, until the store has them; `keeping`: how many are being written now. */
  readonly evidence = new Map<string, AttemptRun>();
  isEvidenceLost = false;
  /** Whether evidence arrived after the close command was issued. */
  isEvidenceNew = false;
  keeping = 0;
  evidenceFiles = 0;
  /** Entries of the log that the store does not have yet; `loggingNow`: how many of them are being written. */
  readonly log: BatchEvent[] = [];
  loggingNow = 0;
  logDueAt = 0;
  logFiles = 0;
  nextGroup = 1;
  nextPart = 1;
  nextPoll = 1;
  nextCancel = 1;
  /** The batch sends nothing before this time. */
  holdUntil = 0;
  /** Consecutive groups with failures and without an accepted attempt. */
  consecutiveFailures = 0;
  /** When the first group of the latest series without clear answers was sent. */
  unclearSince?: number | undefined;
  /** Why the latest groups could not be sent, for display. */
  trouble?: string | undefined;
  readonly pauses = new Map<PauseKind, Pause>();
  rateLimit = NO_LIMIT;
  /** In a pool: grants and reports; and pools that the batch has left without telling them yet. */
  membership?: Membership | undefined;
  leaves?: readonly Leave[] | undefined;
  /** The membership that ended with the batch, until another pass reopens it. */
  membershipLeft?: Membership | undefined;
  /** See sending-limits/rate-limit.ts. */
  nextStartAt = 0;
  /** The highest concurrency that was ever in force. */
  peakConcurrency: number;
  /** Items that the store failed to write. */
  readonly unstored = new Set<StoreItem>();
  /** Since when every file download has failed. */
  filesFailSince?: number | undefined;
  /** The latest download that succeeded, or the latest resume; earlier failures no longer count. */
  filesFineAt?: number | undefined;
  /** Why files could not be fetched lately. */
  filesFault?: string | undefined;
  /** Attempts that were abandoned, as `row/attempt`, oldest first. */
  readonly abandoned = new Set<string>();
  /** Duplicate runs that were reported, oldest first. */
  readonly reported = new Set<string>();
  cancelling?: 'unsent' | 'running' | undefined;
  /** Sending stops so that the workflow can continue as new. */
  isStopping = false;
  /** Ids of the commands that requested a continue-as-new. */
  refreshIds: readonly string[] = [];
  /**
   * `requestedAt`: when the list reading in flight was requested; `nextAt`: the next one; `controlAt`: when the group
   * of the control run was issued; `readAt`: when the last finished reading was requested; `answeredAt`: the same for
   * the last one that was not incomplete.
   */
  readonly reconcile: {
    requestedAt?: number | undefined;
    readAt?: number;
    answeredAt?: number;
    controlAt?: number | undefined;
    nextAt: number;
    readings: number;
  } = { nextAt: 0, readings: 0 };
  /** The latest accepted run, and when its group was issued: a later complete list must show this run. */
  control?: { readonly runId: string; readonly at: number } | undefined;
  /** Average time from a run's acceptance to its end in milliseconds; 0 before the first end. */
  usualRunMs = 0;
  /** The source of the latest completion. */
  completedBy?: 'webhook' | 'poll' | undefined;
  /** When progress was last published, its summary, and whether it has changed since. */
  published: { readonly at: number; readonly summary: string; isStale: boolean } = {
    at: 0,
    summary: '',
    isStale: true,
  };
  acknowledgements: readonly Acknowledgement[] = [];
  pendingCommands: readonly PendingCommand[] = [];
  /** Until when a group that Temporal gave up may still start POSTs. */
  leasedUntil?: number;
  /** The ids of the latest commands. */
  knownCommands: readonly string[] = [];
  lastFailure?: { readonly place: number; readonly outcome: Outcome; readonly reason?: string } | undefined;
  /** Failed attempts by reason; absent before the first. */
  failures?: FailureCounts | undefined;
  /** How many rows have ended, and how many of them without success; and the same when a user last resumed the batch. */
  endings = NO_ENDINGS;
  resumedAt = NO_ENDINGS;
  tally: Tally;
  ledger: RequestLedger = NO_LEDGER;
  /** Notifications of this pass; see decisions/notify.ts. */
  notified: readonly string[] = [];
  /** Notifications that have not ended, oldest first; `notifying`: the numbers of those whose activity runs. */
  notices: readonly Notice[] = [];
  notifying: ReadonlySet<number> = new Set();
  nextNotice = 1;
  closing = false;
  /** The results are written; the batch ends with its last notification. */
  isClosed = false;
  finished = false;

  constructor(params: BatchParams, version: number, wallAt: number) {
    this.params = params;
    this.version = version;
    this.now = wallAt;
    this.wallAt = wallAt;
    this.startedWallAt = wallAt;
    this.wakeAt = wallAt;
    this.lanes = lanesOf(params);
    if (params.canary !== undefined) this.gate = 'closed';
    if (version >= 6) this.trial = NEW_TRIAL;
    this.pass = params.pass;
    this.wantedPass = params.pass;
    if (params.pool !== undefined) this.membership = newMembership(wallAt, { now: wallAt });
    this.peakConcurrency = params.concurrency;
    const reused = tallyOutcome(NO_TALLY, 'succeeded', params.reused ?? 0);
    this.tally = tallyOutcome(reused, 'refused', params.refused ?? 0);
  }
}

/** A plain type, not the class: a state is copied with other values. */
export type State = { [Field in keyof StateAtStart]: StateAtStart[Field] };

/** The state of a batch that starts at Temporal's time `wallAt`. */
export const begin = (params: BatchParams, version: number, wallAt: number): State =>
  new StateAtStart(params, version, wallAt);

/** The unconfirmed rows, oldest first. */
export const unconfirmedRows = (state: State): readonly UnconfirmedRow[] =>
  state.unconfirmed.map((row) => state.rows.get(row) as UnconfirmedRow);

/** The run that has waited longest for a poll. */
export const oldestUnpolled = ({ unpolled, rows }: State): RunningRow | undefined => {
  const [oldest] = unpolled;
  return oldest === undefined ? undefined : (rows.get(oldest) as RunningRow);
};

/** The run that has been overdue for longest. */
export const oldestOverdue = ({ overdue, rows }: State): Overdue | undefined => {
  const [oldest] = overdue;
  return oldest === undefined ? undefined : (rows.get(oldest) as Overdue);
};

export type Overdue = RunningRow & Required<Pick<RunningRow, 'overdue'>>;

export const runningRow = (state: State, row: number): RunningRow | undefined => {
  const candidate = state.rows.get(row);
  return candidate?.phase === 'running' ? candidate : undefined;
};

/** Whether no row is unsent, waiting, sending, running or unconfirmed: only collecting remains. */
export function isIdle(state: State): boolean {
  const { waiting, sending, running, unconfirmed } = state.phases;
  return waiting + sending + running + unconfirmed === 0 && !hasUnsent(state);
}

/** Whether the batch still has to send rows for the first time. */
export const hasUnsent = ({ lanes, cancelling }: State): boolean =>
  cancelling === undefined && lanes.some(({ segments }) => segments.length > 0);

/** Whether the batch still has to send rows, for the first time or again. */
export const hasMoreToSend = (state: State): boolean => hasUnsent(state) || state.phases.waiting > 0;

/** Places that were never sent, of all lanes. */
export const unsentPlaces = ({ lanes }: Pick<State, 'lanes'>): number =>
  lanes.reduce((sum, lane) => sum + unsentIn(lane), 0);

/** The rows in phase waiting, the next one first. */
export const waitingRows = ({ lanes }: Pick<State, 'lanes'>): readonly WaitingRow[] =>
  lanes
    .flatMap(accountsOf)
    .flatMap(({ waiting }) => waiting)
    .sort((a, b) => a.dueAt - b.dueAt);

/** A slot is the right to have one run outstanding. Each attempt that may have started a run holds a slot. */
export const usedSlots = ({ phases }: Pick<State, 'phases'>): number =>
  phases.sending + phases.running + phases.unconfirmed;

export const freeSlots = (state: Pick<State, 'phases' | 'params'>): number =>
  Math.max(0, state.params.concurrency - usedSlots(state));
