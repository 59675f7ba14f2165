// What can be said about money: how many POSTs were begun and what became of each. It always adds up:
//
//   sent = accepted + refused + notProcessed + paused + uncertain
//   uncertain = adopted (by webhook or list) + absent + unknown + resubmitted + failed + still open
//
// Unknown, resubmitted and failed ones may have become runs that nobody knows of: that is the money at risk.

import type { PostClass } from './classify.ts';

export type AdoptedBy = 'webhook' | 'list';

export type Ledger = {
  /** POSTs whose first byte was written. */
  readonly sent: number;
  /** Became runs, as their answers said, or an end of a run that came before its answer. */
  readonly accepted: number;
  readonly refused: number;
  /** Answered 429 and the like: certainly no run. */
  readonly notProcessed: number;
  /** Refused for a reason that concerns the whole batch. */
  readonly paused: number;
  /** May have become a run when nobody was told. */
  readonly uncertain: number;
  readonly adopted: Readonly<Record<AdoptedBy, number>>;
  /** Uncertain ones proved never to have become a run. */
  readonly absent: number;
  /** Uncertain ones that could not be proved either way: possible spend. */
  readonly unknown: number;
  /** Uncertain ones whose row was sent again, or failed, as the user had asked for. */
  readonly resubmitted: number;
  readonly failed: number;
  /** Runs that nobody wanted: a second one of an attempt, or one of an attempt that was written off. */
  readonly twins: number;
};

export const NO_LEDGER: Ledger = {
  sent: 0,
  accepted: 0,
  refused: 0,
  notProcessed: 0,
  paused: 0,
  uncertain: 0,
  adopted: { webhook: 0, list: 0 },
  absent: 0,
  unknown: 0,
  resubmitted: 0,
  failed: 0,
  twins: 0,
};

const COLUMN = {
  accepted: 'accepted',
  refused: 'refused',
  'not-processed': 'notProcessed',
  pause: 'paused',
  uncertain: 'uncertain',
} as const satisfies Record<Exclude<PostClass, 'not-sent'>, keyof Ledger>;

export function enterPost(ledger: Ledger, became: PostClass): Ledger {
  if (became === 'not-sent') return ledger;
  const column = COLUMN[became];
  return { ...ledger, sent: ledger.sent + 1, [column]: ledger[column] + 1 };
}

export function enterAdopted(ledger: Ledger, by: AdoptedBy): Ledger {
  return { ...ledger, adopted: { ...ledger.adopted, [by]: ledger.adopted[by] + 1 } };
}

export function enterResolved(ledger: Ledger, as: 'absent' | 'unknown' | 'resubmitted' | 'failed'): Ledger {
  return { ...ledger, [as]: ledger[as] + 1 };
}

export const enterTwin = (ledger: Ledger): Ledger => ({ ...ledger, twins: ledger.twins + 1 });

/** Uncertain attempts that are neither adopted nor written off. */
export function stillUncertain(ledger: Ledger): number {
  const { uncertain, adopted, absent } = ledger;
  return uncertain - adopted.webhook - adopted.list - absent - atRisk(ledger);
}

/** Attempts that may be runs which nobody knows of. */
export const atRisk = ({ unknown, resubmitted, failed }: Ledger): number => unknown + resubmitted + failed;
