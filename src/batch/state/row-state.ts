// Defines a row while it is in the batch's state. Most rows are not: they are not sent yet, or collected in parts.
//
//   not sent ──► sending ──► running ──► ended ──► collected (forgotten)
//                 ▲  │  └──► unconfirmed ─┘ ▲
//                 │  │            │         │
//                waiting ◄────────┘ (absent)│
//                    └──────────────────────┘ cancelled
//
// sending, running and unconfirmed hold a slot. A row has one phase at a time, so (row, attempt) identifies one state.

import { PAST_BYTES, PAST_WITHOUT_RUN_BYTES, ROW_BYTES, SHORT_REASON_BYTES } from '../bounds.ts';
import type { PostClass } from '../classify-response.ts';
import { jsonBytes } from '../../options/text/clipped.ts';
import type { Outcome, PastAttempt, AttemptRef } from '../outcome.ts';

export type Base = AttemptRef & {
  /** How many runs of this row have ended without success, for the retry policy. */
  readonly tries: number;
  readonly past: readonly PastAttempt[];
  /** The rung of the ladder on which this attempt runs. */
  readonly rung?: number;
  /** How many attempts in a row were proved absent; absent itself for none. */
  readonly absences?: number;
};

/** A row without its phase. */
export const baseOf = ({ place, attempt, tries, past, rung, absences }: Base): Base => ({
  place,
  attempt,
  tries,
  past,
  ...onRung(rung),
  ...(absences === undefined ? {} : { absences }),
});

export const onRung = (rung: number | undefined): { readonly rung?: number } =>
  rung === undefined ? {} : { rung };

/** The class of an earlier POST of the same attempt that the service appeared to turn away. */
export type TurnedAway = Extract<PostClass, 'throttled' | 'blocked' | 'rejected'>;

/** When a row is due that waits for the verdict of the trial; see trial.ts. */
export const UNTIL_VERDICT = Number.POSITIVE_INFINITY;

/** Waits for its next POST. If a run of this attempt appears anyway, the row adopts it. */
export type WaitingRow = Base & {
  readonly phase: 'waiting';
  readonly dueAt: number;
  readonly turnedAway?: TurnedAway;
  /** The refusal of the service: the verdict decides whether the row ends with it or is sent again. */
  readonly refusal?: string;
};

/** In a group in flight. `seen` are run ids that webhooks reported for it before the response. */
export type SendingRow = Base & {
  readonly phase: 'sending';
  readonly seen?: readonly string[];
  readonly turnedAway?: TurnedAway;
};

/** Accepted: the service runs this run for the row. */
export type RunningRow = Base & {
  readonly phase: 'running';
  readonly runId: string;
  readonly since: number;
  /** When and why we started to cancel a run that takes too long. */
  readonly overdue?: { readonly at: number; readonly reason: string };
};

/** An attempt whose POST may have started a run. */
export type UnconfirmedRow = Base & {
  readonly phase: 'unconfirmed';
  /** No byte of its POST was written before this time, by the batch's clock and by Temporal's. */
  readonly askedAt: number;
  readonly askedWallAt: number;
  /** No byte of its POST was written after this time. */
  readonly sentBy: number;
  readonly reason: string;
  /** When the first list reading that counts as proof of absence was requested. */
  readonly missedAt?: number;
  /** When a list was first read since, by the service's clock as it is now: it moves with its jumps. */
  readonly serviceAt?: number;
};

/** The row waits because its files could not be fetched yet. */
export type Deferral = {
  /** Failures of this row's own files; an outage of the whole host does not count. */
  readonly tries: number;
  readonly notBefore: number;
  /** The run shows no files at all. */
  readonly isEmpty?: true;
};

/** Has its outcome and waits to be collected. */
export type UncollectedRow = Base & {
  readonly phase: 'ended';
  readonly at: number;
  readonly outcome: Outcome;
  readonly runId?: string;
  readonly reason?: string;
  readonly deferral?: Deferral;
};

export type Deferred = UncollectedRow & { readonly deferral: Deferral };

export type RowState = WaitingRow | SendingRow | RunningRow | UnconfirmedRow | UncollectedRow;
export type Phase = RowState['phase'];

/** The attempt that gave a row its outcome. */
export type LastAttempt = PastAttempt & { readonly outcome: Outcome };

/** A row as `collect` writes it: all of its attempts, the last one with the row's outcome. */
export type EndedRow = {
  readonly place: number;
  readonly attempts: readonly PastAttempt[];
  /** If its files cannot be fetched this time, `collect` writes the row without them. */
  readonly isLastTry?: true;
  readonly deferral?: Deferral;
};

/** How many bytes a row takes in a snapshot; never an underestimate. */
export function bytesOf(row: RowState): number {
  const past = row.past.reduce((sum, attempt) => sum + pastBytes(attempt), 0);
  const seen = row.phase === 'sending' ? (row.seen?.length ?? 0) * 40 : 0;
  return ROW_BYTES + jsonBytes(reasonIn(row)) + seen + past;
}

/** The same for a row whose part is being written. */
export const endedRowBytes = ({ attempts }: EndedRow): number =>
  attempts.reduce((sum, attempt) => sum + pastBytes(attempt), ROW_BYTES);

const pastBytes = ({ runId, reason = '' }: PastAttempt): number =>
  runId === undefined
    ? PAST_WITHOUT_RUN_BYTES + jsonBytes(reason)
    : Math.max(PAST_BYTES, PAST_BYTES - SHORT_REASON_BYTES + jsonBytes(reason));

function reasonIn(row: RowState): string {
  if (row.phase === 'running') return row.overdue?.reason ?? '';
  if (row.phase === 'waiting') return row.refusal ?? '';
  return row.phase === 'unconfirmed' || row.phase === 'ended' ? (row.reason ?? '') : '';
}

/** The row's past attempts, with its current attempt added. */
export function pastWith(
  row: Base,
  outcome: PastAttempt['outcome'],
  facts: { readonly runId?: string | undefined; readonly reason?: string | undefined },
): readonly PastAttempt[] {
  return [
    ...row.past,
    {
      attempt: row.attempt,
      outcome,
      ...(facts.runId === undefined ? {} : { runId: facts.runId }),
      ...(facts.reason ? { reason: facts.reason } : {}),
      ...onRung(row.rung),
    },
  ];
}
