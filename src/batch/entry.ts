// A row while the batch's state holds it. Most rows are not here: they wait beyond the cursor or lie collected in parts.
//
//   beyond the cursor ──► sending ──► running ──► ended ──► (collected, forgotten)
//                          ▲  │  └──► uncertain ──┘ ▲
//                          │  │          │          │
//                       waiting ◄────────┘ (absent) │
//                          │   cancelled            │
//                          └────────────────────────┘
//
// sending, running and uncertain hold a slot. A row has one phase at a time, so its (row, attempt) names one entry.

import { ENTRY_BYTES } from './limits.ts';
import type { Outcome, PastAttempt } from './outcome.ts';

type Base = {
  readonly row: number;
  readonly attempt: number;
  /** Runs of this row that ended without success, for the retry rule. */
  readonly tries: number;
  readonly past: readonly PastAttempt[];
};

/** Waits for its next attempt. */
export type Waiting = Base & { readonly phase: 'waiting'; readonly dueAt: number };

/** In a group in flight. `seen` are the runs that webhooks named for it meanwhile: one, unless the service made two. */
export type Sending = Base & { readonly phase: 'sending'; readonly seen?: readonly string[] };

/** Accepted: the service has this run for it. */
export type Running = Base & {
  readonly phase: 'running';
  readonly runId: string;
  readonly since: number;
  /** Since when it is being cancelled because it takes too long, and why. */
  readonly overdue?: { readonly at: number; readonly reason: string };
};

/** Its POST may have been accepted. */
export type Uncertain = Base & {
  readonly phase: 'uncertain';
  /** No byte of its POST was written before this moment. */
  readonly askedAt: number;
  /** No byte of its POST was written after this moment. */
  readonly sentBy: number;
  readonly reason: string;
  /** When the first list that may count towards its absence was asked for. */
  readonly missedAt?: number;
};

/** Has its outcome and waits to be collected. */
export type Ended = Base & {
  readonly phase: 'ended';
  readonly at: number;
  readonly outcome: Outcome;
  readonly runId?: string;
  readonly reason?: string;
};

export type Entry = Waiting | Sending | Running | Uncertain | Ended;
export type Phase = Entry['phase'];

function reasonIn(entry: Entry): string {
  if (entry.phase === 'running') return entry.overdue?.reason ?? '';
  return entry.phase === 'uncertain' || entry.phase === 'ended' ? (entry.reason ?? '') : '';
}

/** How many bytes an entry takes when the state is carried on, roughly and never too low. */
export function weightOf(entry: Entry): number {
  const words = reasonIn(entry).length * 3;
  const past = entry.past.reduce((sum, attempt) => sum + 90 + (attempt.reason?.length ?? 0) * 3, 0);
  return ENTRY_BYTES + words + past;
}

/** What `past` becomes when this attempt lies behind the row. */
export function pastWith(
  entry: Entry,
  outcome: PastAttempt['outcome'],
  facts: { readonly runId?: string | undefined; readonly reason?: string | undefined },
): readonly PastAttempt[] {
  return [
    ...entry.past,
    {
      attempt: entry.attempt,
      outcome,
      ...(facts.runId === undefined ? {} : { runId: facts.runId }),
      ...(facts.reason === undefined ? {} : { reason: facts.reason }),
    },
  ];
}
