// A notification about a schedule, for one target.

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

// Why a firing of a schedule made no batch, read from the failure of its activity.

export type FiringError = {
  /** Absent if the failure is none of ours. */
  readonly code?: string;
  readonly message: string;
  /** What helps. */
  readonly hint?: string;
  /** Where in the sheet. */
  readonly place?: {
    readonly file: string;
    readonly line?: number;
    readonly column?: number;
    readonly cell?: string;
  };
};

/** As the SDK throws it. */
export type Failure = {
  readonly message?: string;
  readonly type?: unknown;
  readonly details?: readonly unknown[] | null;
  readonly cause?: Failure;
};

const CODE = /^E\d{3}$/;

/** The coded error of the innermost failure with a code, followed by the other errors of its sheet; else the innermost message. */
export function errorsOf(failure: Failure): readonly FiringError[] {
  const chain = chainOf(failure);
  const coded = chain.findLast(({ type }) => typeof type === 'string' && CODE.test(type));
  if (coded === undefined) return [{ message: chain.at(-1)?.message ?? 'it failed' }];
  const [first] = (coded.details ?? []) as readonly (FiringError & { problems?: readonly FiringError[] })[];
  if (first === undefined) return [withoutDetails(coded)];
  const { problems = [], ...error } = first;
  return [error, ...problems];
}

const chainOf = (failure: Failure): readonly Failure[] =>
  failure.cause == null ? [failure] : [failure, ...chainOf(failure.cause)];

/** Its message begins with its code. */
function withoutDetails({ type, message = '' }: Failure): FiringError {
  const code = String(type);
  return { code, message: message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message };
}

// How many times a schedule has missed since its last firing. Temporal counts them from the schedule's creation, so each firing
// keeps what it has read, and the next one compares.

/** What a firing has read. */
export type MissedRecord = {
  /** When the schedule was made: one that was made again counts from 0. */
  readonly createdAt: number;
  /** The nominal time of the firing. */
  readonly firing: number;
  /** The count of the firing before it. */
  readonly before: number;
  readonly missed: number;
};

/** The count is the same if the activity of a firing is tried again. */
export function missedSince(
  kept: MissedRecord | undefined,
  read: Pick<MissedRecord, 'createdAt' | 'firing' | 'missed'>,
): { readonly record: MissedRecord; readonly count: number } {
  const before = countBefore(kept, read);
  return { record: { ...read, before }, count: Math.max(0, read.missed - before) };
}

function countBefore(
  kept: MissedRecord | undefined,
  { createdAt, firing }: Pick<MissedRecord, 'createdAt' | 'firing'>,
): number {
  if (kept?.createdAt !== createdAt) return 0;
  return kept.firing === firing ? kept.before : kept.missed;
}

/** Temporal fires this late at most. */
const LATE_MS = 5_000;

/** The times of the rule before a firing that were missed, if the count leaves no choice; the others were left out. */
export function missedAmong(
  between: readonly number[],
  count: number,
  { firedAt, catchupMs }: { readonly firedAt: number; readonly catchupMs: number },
): readonly number[] {
  // A later time was not too late for a firing when Temporal looked at it.
  const missable = between.filter((time) => time < firedAt - catchupMs - LATE_MS);
  return [between, missable].find(({ length }) => length === count) ?? [];
}
