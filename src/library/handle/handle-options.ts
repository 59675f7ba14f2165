// Options and results of the methods of a batch handle.

import type { Outcome } from '../../batch/outcome.ts';
import type { RowRecord } from '../../results/row-record.ts';
import type { BatchOptions, Limits, ReadingOptions } from '../start/program-rows.ts';
import type { Abortable } from '../abortable.ts';
import type { Cursor, EventFilter } from './ended-rows.ts';
import type { RetryFilter } from './retried-rows.ts';

/** The acknowledgement of a command that is in force. */
export type Ack = {
  /** Names the command in the state of the batch. */
  readonly commandId: string;
  /** When the batch confirmed the command. */
  readonly at: Date;
  /** A remark of the batch about the command. */
  readonly note?: string;
};

/** How a command is given. */
export type CommandOptions = Abortable & {
  /** The reason, recorded in the events of the batch. */
  readonly reason?: string;
  /** How many milliseconds to wait until the command is in force (default: 20,000); then E518, and it takes effect later. */
  readonly timeoutMs?: number;
};

/** Selects the rows to read. */
export type RowsOptions = Abortable & {
  /** Only rows with these outcomes (default: all). */
  readonly outcome?: readonly Outcome[];
  /** Continues after the row with this cursor. */
  readonly after?: Cursor;
  /** Until the batch has ended; otherwise the rows that have ended by now (default: false). */
  readonly follow?: boolean;
};

/** How long to wait for the end of a batch. */
export type ResultOptions = Abortable & {
  /** Stops waiting after this many milliseconds: rejects with E521 (default: no limit). The batch continues. */
  readonly timeoutMs?: number;
  /**
   * `throw`: rejects with {@link BatchPausedError} at any pause; `wait`: at none. Default: at pauses that only `resume()` ends, such as
   * a budget that is spent.
   */
  readonly onPaused?: 'wait' | 'throw';
};

/** How a batch continues: as it was, or with new limits. */
export type ResumeOptions = Limits &
  CommandOptions & {
    /** How to resolve attempts that may have started a run (default: keep waiting); `resubmit` may buy a row twice. */
    readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit';
    /** Rebuilds a batch that Temporal lost or that no longer responds, from its folder and the run list of the service. Throws E511. */
    readonly recover?: boolean;
  };

/** Options of `cancel()`. */
export type CancelOptions = CommandOptions & {
  /** Also cancels the runs that have been sent; otherwise they finish (default: false). */
  readonly running?: boolean;
};

/** Selects the rows to send again, and their changes. */
export type RetryOptions = RetryFilter &
  CommandOptions & {
    /** Changed inputs for these rows, written as in cells. */
    readonly set?: Readonly<Record<string, string>>;
    /** Send them although the service may ignore `gpu` (default: false). */
    readonly acceptGpu?: boolean;
    /** Needed for rows that succeeded or are unknown: they may have a run that was paid for (default: false). */
    readonly mayBuyTwice?: boolean;
  };

/** How to read a further sheet of a batch, and in which order its rows are sent. */
export type AppendOptions = Abortable &
  ReadingOptions &
  Pick<BatchOptions, 'guess' | 'acceptGpu' | 'acceptFiles'> & {
    /** Needed for rows that other batches have bought, or may buy (default: false). */
    readonly mayBuyTwice?: boolean;
  };

/** How many rows are sent. */
export type AddedRows = {
  /** The number of rows. */
  readonly rows: number;
};

/** Selects the events to read. */
export type EventsOptions = Abortable &
  EventFilter & {
    /** Until the batch has ended; otherwise what happened by now (default: false). */
    readonly follow?: boolean;
  };

/** Selects the run whose log is read. */
export type LogsOptions = Abortable & {
  /** The number of the attempt, from 1 (default: the last one with a run). */
  readonly attempt?: number;
};

/** A row, also one without an outcome: `open`. */
export type RowDetail = Omit<RowRecord, 'outcome'> & { readonly outcome: Outcome | 'open' };
