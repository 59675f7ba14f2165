// Extrapolates the cost and the end of a batch from the rows that have ended.

import { costSoFar } from '../../batch/accounting/tally.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { rowsEnded } from './batch-status.ts';

/** How many rows must end before a forecast. The first rows are atypical, because the service starts containers for them. */
const ENOUGH = { share: 0.05, atLeast: 10, atMost: 1_000 };

export type Spent = Pick<
  Progress,
  'rows' | 'reused' | 'refused' | 'done' | 'state' | 'tally' | 'budget' | 'maxCostNano'
>;

/**
 * Extrapolates the cost of all rows from the ended ones. There is no interval, because progress contains no
 * single runs. Returns undefined if too few rows have ended, or if no more will be sent.
 */
export function aboutCostUsd({
  state,
  tally,
  reused = 0,
  refused = 0,
  ...counts
}: Spent): number | undefined {
  // Rows that are not sent cost nothing and say nothing about the cost of new runs.
  const unsent = reused + refused;
  const [rows, done] = [counts.rows - unsent, counts.done - unsent];
  const enough = Math.min(Math.max(rows * ENOUGH.share, ENOUGH.atLeast), ENOUGH.atMost);
  const isSending = state === 'running' || state === 'paused';
  if (!isSending || done < enough || done >= rows) return undefined;
  return (costSoFar(tally) / done) * rows;
}

const WINDOW_MS = 15_000;

export type Speed = { readonly perSecond: number; readonly etaMs: number | undefined };
export type Speedometer = {
  mark(progress: Pick<Progress, 'rows' | 'done' | 'collecting'>, now: number): Speed;
};

/** Measures rows per second over the last {@link WINDOW_MS}. */
export function openSpeedometer(): Speedometer {
  let marks: { readonly at: number; readonly done: number }[] = [];
  return {
    mark: (progress, now) => {
      const done = rowsEnded(progress);
      // A retried row is no longer done, so the count may fall.
      const isBefore = (mark: { readonly at: number; readonly done: number }): boolean =>
        now - mark.at <= WINDOW_MS && mark.done <= done;
      marks = [...marks.filter(isBefore), { at: now, done }];
      const [first] = marks;
      const seconds = first === undefined ? 0 : (now - first.at) / 1000;
      const perSecond = first === undefined || seconds < 1 ? 0 : (done - first.done) / seconds;
      return { perSecond, etaMs: perSecond > 0 ? ((progress.rows - done) / perSecond) * 1000 : undefined };
    },
  };
}
