// The kinds of values of options that a batch is made with; they do not change while it runs.

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isRow = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;

const MAX_MS = 365 * 86_400_000;

/** A duration in milliseconds. */
export const span = (least: string, leastMs: number) => ({
  type: 'span' as const,
  least,
  leastMs,
  mostMs: MAX_MS,
  isKept: (value: unknown): value is number =>
    typeof value === 'number' && value >= leastMs && value <= MAX_MS,
});

export const choice = <const W extends string>(words: readonly W[]) => ({
  type: 'choice' as const,
  words,
  isKept: (value: unknown): value is W => words.some((word) => word === value),
});

export const flag = {
  type: 'flag' as const,
  isKept: (value: unknown): value is boolean => typeof value === 'boolean',
};

/** Any text but an empty one, which most likely comes from an unset variable; `form` and `example` say what it contains. */
export const text = (form: string, example: string) => ({
  type: 'text' as const,
  form,
  example,
  isKept: isText,
});

/** Texts: `joined` in one word with commas, or one word each. */
export const texts = (form: string, example: string, joined = false) => ({
  type: 'texts' as const,
  form,
  example,
  joined,
  isKept: (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText),
});

/** A text for each name, such as an input; `words`: the only texts allowed. */
export const pairs = <const W extends string = string>(
  right: string,
  example: string,
  words?: readonly W[],
) => ({
  type: 'pairs' as const,
  right,
  example,
  words,
  isKept: (value: unknown): value is Readonly<Record<string, W>> =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((word) =>
      words === undefined ? typeof word === 'string' : words.includes(word),
    ),
});

/** An axis with more values than this should be a sheet of its own. */
const MAX_AXIS_VALUES = 10_000;

/** The values of each axis of a grid, in their order. */
export type Axes = Readonly<Record<string, readonly string[]>>;

export const axes = {
  type: 'axes' as const,
  most: MAX_AXIS_VALUES,
  isKept: (value: unknown): value is Axes =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every(
      (axis) =>
        Array.isArray(axis) &&
        axis.length > 0 &&
        axis.length <= MAX_AXIS_VALUES &&
        axis.every((word) => typeof word === 'string'),
    ),
};

/** How many times each row runs. */
export type Repeat = {
  /** A number of times, or the column that contains the number. */
  readonly by: number | string;
  /** Every run has the same inputs. */
  readonly isSame?: true;
  /** Settled with the sheet: the column whose number counts on from run to run. */
  readonly seed?: {
    readonly column: string;
    /** The sheet has no such column. */
    readonly isAdded?: true;
    /**
     * The seed of the first run; otherwise the row's seed, or one drawn from the row: from `from` (default: 0) to
     * below `below`.
     */
    readonly first?: string;
    readonly from?: number;
    readonly below: number;
  };
};

export const MAX_REPEAT = 10_000;

export const repeat = {
  type: 'repeat' as const,
  most: MAX_REPEAT,
  isKept: (value: unknown): value is Repeat => {
    const { by } = (value ?? {}) as Partial<Repeat>;
    return typeof by === 'number' ? isRow(by) && by <= MAX_REPEAT : isText(by);
  },
};

/** The number of a row; 0 for none. */
export const rowOrNone = {
  type: 'rowOrNone' as const,
  isKept: (value: unknown): value is number => value === 0 || isRow(value),
};

/** Rows of a file by number, both ends included. */
export type RowRange = { readonly from: number; readonly to: number };

export const rowRanges = {
  type: 'rowRanges' as const,
  isKept: (value: unknown): value is readonly RowRange[] =>
    Array.isArray(value) &&
    value.every((range: Partial<RowRange> | undefined) => {
      const { from = 0, to = 0 } = range ?? {};
      return isRow(from) && isRow(to) && from <= to;
    }),
};

/** The rule for an attempt that may have started a run. Without `afterMs`, the time comes from the service's profile. */
export type Unconfirmed = {
  readonly rule: 'unknown' | 'ask' | 'fail' | 'resubmit';
  readonly afterMs?: number;
};

export const UNCONFIRMED_RULES = ['unknown', 'ask', 'fail'] as const;

export const unconfirmed = (after: ReturnType<typeof span>) => ({
  type: 'unconfirmed' as const,
  after,
  isKept: (value: unknown): value is Unconfirmed => {
    const { rule, afterMs } = (value ?? {}) as Partial<Unconfirmed>;
    return rule === 'resubmit' ? after.isKept(afterMs) : UNCONFIRMED_RULES.some((word) => word === rule);
  },
});
