// A notification, for one target, that a firing of a schedule made no batch.

export type ScheduleNotice = {
  readonly to: string;
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
  readonly errors: readonly FiringError[];
};

/** Read from the failure of its activity. */
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
