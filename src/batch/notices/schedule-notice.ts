// A notification about a schedule, for one target.

import type { FiringError } from './firing-errors.ts';

/** Times of the rule, in milliseconds since 1970. */
export type MissedTimes = {
  readonly count: number;
  /** Those that the rule has since the firing before; empty if they are not exactly those that Temporal has counted. */
  readonly times: readonly number[];
};

export type ScheduleNews =
  | { readonly news: 'firing-failed'; readonly errors: readonly FiringError[] }
  | { readonly news: 'times-missed'; readonly missed: MissedTimes };

export type ScheduleNotice = ScheduleNews & {
  readonly to: string;
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
};
