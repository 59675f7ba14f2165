// Counts the POSTs that were started and how each ended. The counts always add up:
//
//   sent = accepted + rejected + throttled + blocked + unconfirmed
//   unconfirmed = adopted (by webhook or list) + absent + unknown + resubmitted + failed + still open
//
// Unknown, resubmitted and failed attempts may have started runs that were never seen: they are the possible spend.

import type { PostClass } from '../classify-response.ts';
import type { TurnedAway } from '../state/row-state.ts';

export type AdoptedBy = 'webhook' | 'list';

export const NO_LEDGER = {
  /** POSTs whose first byte was written. */
  sent: 0,
  /** Started a run: the response said so, or the run appeared later. */
  accepted: 0,
  /** Rejected because of the row. */
  rejected: 0,
  /** Turned away with 429 or a similar status. */
  throttled: 0,
  /** Turned away for a reason that concerns the whole batch. */
  blocked: 0,
  /** May have started a run. */
  unconfirmed: 0,
  adopted: { webhook: 0, list: 0 } satisfies Record<AdoptedBy, number>,
  /** Unconfirmed attempts that were proved to have started no run. */
  absent: 0,
  /** Unconfirmed attempts that could not be proved either way: possible spend. */
  unknown: 0,
  /** Unconfirmed attempts whose row was sent again, or failed, by the user's rule. */
  resubmitted: 0,
  failed: 0,
  /** Duplicate runs: second runs of an attempt, or runs of an attempt that was abandoned. */
  duplicates: 0,
};

export type RequestLedger = Readonly<typeof NO_LEDGER>;

export function enterPost(ledger: RequestLedger, result: PostClass): RequestLedger {
  if (result === 'not-sent') return ledger;
  return { ...ledger, sent: ledger.sent + 1, [result]: ledger[result] + 1 };
}

/** Corrects the count of a POST that appeared to be turned away but started a run. */
export const enterAccepted = (ledger: RequestLedger, was: TurnedAway | undefined): RequestLedger =>
  was === undefined
    ? enterPost(ledger, 'accepted')
    : { ...ledger, [was]: ledger[was] - 1, accepted: ledger.accepted + 1 };

export const enterAdopted = (ledger: RequestLedger, by: AdoptedBy): RequestLedger => ({
  ...ledger,
  adopted: { ...ledger.adopted, [by]: ledger.adopted[by] + 1 },
});

export const enterResolved = (
  ledger: RequestLedger,
  as: 'absent' | 'unknown' | 'resubmitted' | 'failed',
): RequestLedger => ({ ...ledger, [as]: ledger[as] + 1 });

export const enterDuplicate = (ledger: RequestLedger): RequestLedger => ({
  ...ledger,
  duplicates: ledger.duplicates + 1,
});

/** Runs that belong to rows. */
export const knownRuns = ({ accepted, adopted }: RequestLedger): number =>
  accepted + adopted.webhook + adopted.list;

/** Unconfirmed attempts that are neither adopted nor abandoned. */
export function stillUnconfirmed(ledger: RequestLedger): number {
  const { unconfirmed, adopted, absent } = ledger;
  return unconfirmed - adopted.webhook - adopted.list - absent - atRisk(ledger);
}

/** Attempts that may have started runs that were never seen, if the service keeps its word that a refusal starts none. */
export const atRisk = ({ unknown, resubmitted, failed }: RequestLedger): number =>
  unknown + resubmitted + failed;
