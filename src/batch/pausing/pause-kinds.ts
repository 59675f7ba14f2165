// Why a batch may be paused; src/batch/pausing/pauses.ts defines what ends each kind.

export const PAUSE_KINDS = [
  'blocked',
  'unreachable',
  'unreadable',
  'store',
  'files',
  'unconfirmed',
  'pool',
  'user',
  'failures',
  'deadline',
  'budget',
  'canary',
] as const;
export type PauseKind = (typeof PAUSE_KINDS)[number];

/** Pauses that only a user ends. */
export const BY_RESUME_ONLY: ReadonlySet<PauseKind> = new Set([
  'user',
  'failures',
  'deadline',
  'budget',
  'canary',
] as const);

export type Pause = {
  readonly reason: string;
  /** The places of rows that the reason is about: the workflow knows places, and whatever shows the reason names their rows. */
  readonly places?: readonly number[];
  /** Only a pass could not be read (version 4); no write has failed. */
  readonly isRead?: true;
  /** Temporal's time, for display. */
  readonly sinceWallAt: number;
  readonly probeAt: number;
  readonly probes: number;
};
