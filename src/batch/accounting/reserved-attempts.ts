// Counts the attempts that may have a run whose cost is not known yet. A budget reserves the highest cost of a run
// for each, from before the POST until the part with the row is collected, because only the part says what the run
// cost:
//
//   a POST may have started a run   reserved; a POST that was turned away too, until its row is sent again or ends
//   no POST was begun, or refused   not reserved
//   proved absent                   not reserved
//   unknown, or given up            reserved, and spent in full when the part is written
//
// The counts follow from the rows and are never stored.

import type { PastAttempt } from '../outcome.ts';
import type { EndedRow, RowState } from '../state/row-state.ts';

export type Held = {
  /** Attempts of rows that are sent, run, or are collected: their reservation ends without another POST. */
  readonly inFlight: number;
  /** Attempts of rows that wait for their next POST, also earlier attempts. */
  readonly waiting: number;
  /** Rows that wait to repeat a POST that was turned away: it has its reservation already. */
  readonly resends: number;
};

export const NONE_HELD: Held = { inFlight: 0, waiting: 0, resends: 0 };

export function addHeld(held: Held, more: Held, times: 1 | -1): Held {
  return {
    inFlight: held.inFlight + times * more.inFlight,
    waiting: held.waiting + times * more.waiting,
    resends: held.resends + times * more.resends,
  };
}

/** `rung`: only attempts on this rung of a ladder. */
export function heldBy(row: RowState, rung?: number): Held {
  const past = row.past.filter((attempt) => mayHaveRun(attempt) && isOn(attempt, rung)).length;
  const isOwn = isOn(row, rung);
  if (row.phase === 'waiting') {
    const resends = Number(isOwn && row.turnedAway !== undefined);
    return { inFlight: 0, waiting: past + resends, resends };
  }
  const own = Number(isOwn && (row.phase !== 'ended' || mayHaveRun(row)));
  return { ...NONE_HELD, inFlight: past + own };
}

/** The same for a row whose part is being written. */
export const heldByEnded = ({ attempts }: Pick<EndedRow, 'attempts'>, rung?: number): Held => ({
  ...NONE_HELD,
  inFlight: attempts.filter((attempt) => mayHaveRun(attempt) && isOn(attempt, rung)).length,
});

const isOn = (attempt: { readonly rung?: number }, rung: number | undefined): boolean =>
  rung === undefined || (attempt.rung ?? 0) === rung;

type PastEnd = Pick<PastAttempt, 'outcome' | 'runId'>;

const mayHaveRun = (end: PastEnd): boolean => end.runId !== undefined || isWrittenOff(end);

/** Whether nothing will ever say what the attempt cost: its run was never seen, or may still be running. */
export const isWrittenOff = ({ outcome, runId }: PastEnd): boolean =>
  outcome === 'unknown' || (outcome === 'failed' && runId === undefined);
