// Why a batch may be paused; src/batch/pauses.ts defines what ends each kind.

export type PauseKind =
  | 'blocked'
  | 'unreachable'
  | 'unreadable'
  | 'store'
  | 'files'
  | 'unconfirmed'
  | 'user'
  | 'failures'
  | 'deadline';

export type Pause = {
  readonly reason: string;
  /** Temporal's time, for display. */
  readonly sinceWallAt: number;
  readonly probeAt: number;
  readonly probes: number;
};
