// Why a batch may be paused, who ends each kind, and what shows that its cause is gone. A new kind is a line here, a
// hint in pause-hints.ts, and the decision or event that starts it.

/**
 * `endsBy`: the user alone; the user, or no row that could still be sent; else what shows that the cause is gone.
 * `probe`: a single attempt, or a single write while nothing else is stored.
 */
type PauseFacts = {
  readonly endsBy: 'user' | 'user or idleness' | 'probe' | 'poll' | 'lists' | 'pool';
  readonly probe?: 'attempt' | 'write' | 'rows';
};

const PAUSES = {
  /** The service refuses every request (401, credits, no such deployment). */
  blocked: { endsBy: 'probe', probe: 'attempt' },
  /** No attempt was accepted for a while: throttled or not sent. */
  unreachable: { endsBy: 'probe', probe: 'attempt' },
  /** Runs cannot be read. */
  unreadable: { endsBy: 'poll' },
  /** The batch folder takes no writes, or a pass cannot be read. */
  store: { endsBy: 'probe', probe: 'write' },
  /** The batch is rebuilt by another command (R36). */
  elsewhere: { endsBy: 'probe', probe: 'write' },
  /** No output can be fetched. */
  files: { endsBy: 'probe', probe: 'rows' },
  /** Attempts that no list resolves hold half of the slots. */
  unconfirmed: { endsBy: 'lists' },
  /** The pool is gone, does not answer or has no slots. */
  pool: { endsBy: 'pool' },
  /** A user asked for it. */
  user: { endsBy: 'user or idleness' },
  /** Too many rows ended without success (--fail-after). */
  failures: { endsBy: 'user or idleness' },
  /** The user's deadline has passed (--deadline). */
  deadline: { endsBy: 'user or idleness' },
  /** No further run fits into --max-cost. */
  budget: { endsBy: 'user or idleness' },
  /** The canary rows have ended (--canary): one failed, or the user is asked. judge-canary.ts would start it again. */
  canary: { endsBy: 'user' },
  /** No row has succeeded, and attempts ended alike. A row that succeeds ends it too. */
  alike: { endsBy: 'user or idleness' },
  /** No POST gets an answer that says whether it started a run. A run that shows up ends it too. */
  unclear: { endsBy: 'probe', probe: 'attempt' },
  /** A row was sent three times and started no run. */
  absent: { endsBy: 'user or idleness' },
} as const satisfies Readonly<Record<string, PauseFacts>>;

export type PauseKind = keyof typeof PAUSES;

export const PAUSE_KINDS = Object.keys(PAUSES) as readonly PauseKind[];

const kindsWhere = (isMeant: (facts: PauseFacts) => boolean): readonly PauseKind[] =>
  PAUSE_KINDS.filter((kind) => isMeant(PAUSES[kind]));

/** Pauses that keep the batch from sending until the user resumes it, and are pointless once its rows have all ended. */
export const ENDED_BY_IDLENESS = kindsWhere(({ endsBy }) => endsBy === 'user or idleness');

/** Pauses that only a user ends while rows are left to send. */
export const BY_RESUME_ONLY: ReadonlySet<PauseKind> = new Set([
  ...ENDED_BY_IDLENESS,
  ...kindsWhere(({ endsBy }) => endsBy === 'user'),
]);

/** Pauses in which a single attempt probes whether the service accepts runs again. */
export const BY_SENDING: ReadonlySet<PauseKind> = new Set(kindsWhere(({ probe }) => probe === 'attempt'));

/** Pauses in which nothing is stored but a probe. */
export const STOPS_STORING = kindsWhere(({ probe }) => probe === 'write');

export type Pause = {
  readonly reason: string;
  /** The places of rows that the reason is about: the workflow knows places, and the displays translate them to rows. */
  readonly places?: readonly number[];
  /** Only a pass could not be read (version 4); no write has failed. */
  readonly isRead?: true;
  /** Temporal's time, for display. */
  readonly sinceWallAt: number;
  readonly probeAt: number;
  readonly probes: number;
};
