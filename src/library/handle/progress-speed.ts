// How fast a batch advances, when it will have ended, and about what it will have cost.

import { costSoFar } from '../../batch/accounting/tally.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { rowsEnded } from './batch-status.ts';

/** How many rows have to end first: the first ones are not typical, because the service starts containers for them. */
const ENOUGH = { share: 0.05, atLeast: 10, atMost: 1_000 };

export type Spent = Pick<Progress, 'rows' | 'reused' | 'done' | 'state' | 'tally' | 'budget' | 'maxCostNano'>;

/**
 * The cost of all rows if the others cost as much as those that have ended. It has no interval, because the progress does not
 * contain single runs. undefined if too few rows have ended, or if no more will be sent.
 */
export function aboutCostUsd({ state, tally, reused = 0, ...all }: Spent): number | undefined {
  // Reused rows cost nothing and show nothing about the others.
  const [rows, done] = [all.rows - reused, all.done - reused];
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
      // Rows that are sent again are not done any more.
      const isBefore = (one: { readonly at: number; readonly done: number }): boolean =>
        now - one.at <= WINDOW_MS && one.done <= done;
      marks = [...marks.filter(isBefore), { at: now, done }];
      const [first] = marks;
      const seconds = first === undefined ? 0 : (now - first.at) / 1000;
      const perSecond = first === undefined || seconds < 1 ? 0 : (done - first.done) / seconds;
      return { perSecond, etaMs: perSecond > 0 ? ((progress.rows - done) / perSecond) * 1000 : undefined };
    },
  };
}
