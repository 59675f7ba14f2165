// A notification for one target: a firing of a schedule made no batch.

export type ScheduleNotice = {
  readonly to: string;
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
  readonly errors: readonly FiringError[];
};

/** An error read from the failure of the firing's activity. */
export type FiringError = {
  /** Absent if the failure has no code of ours. */
  readonly code?: string;
  readonly message: string;
  /** The command that helps. */
  readonly hint?: string;
  /** Where in the sheet. */
  readonly place?: {
    readonly file: string;
    readonly line?: number;
    readonly column?: number;
    readonly cell?: string;
  };
};

/** A failure as the SDK throws it. */
export type FiringFailure = {
  readonly message?: string;
  readonly type?: unknown;
  readonly details?: readonly unknown[] | null;
  readonly cause?: FiringFailure;
};

const CODE = /^E\d{3}$/;

/**
 * The coded error of the innermost failure with a code, then the other errors of its sheet; otherwise the innermost
 * message.
 */
export function errorsOf(failure: FiringFailure): readonly FiringError[] {
  const chain = chainOf(failure);
  const coded = chain.findLast(({ type }) => typeof type === 'string' && CODE.test(type));
  if (coded === undefined) return [{ message: chain.at(-1)?.message ?? 'it failed' }];
  const [first] = (coded.details ?? []) as readonly (FiringError & { problems?: readonly FiringError[] })[];
  if (first === undefined) return [withoutDetails(coded)];
  const { problems = [], ...error } = first;
  return [error, ...problems];
}

const chainOf = (failure: FiringFailure): readonly FiringFailure[] =>
  failure.cause == null ? [failure] : [failure, ...chainOf(failure.cause)];

/** The message begins with its code. */
function withoutDetails({ type, message = '' }: FiringFailure): FiringError {
  const code = String(type);
  return { code, message: message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message };
}
