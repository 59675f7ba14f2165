// The kinds of values of options that a batch is made with; they do not change while it runs.

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isRow = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;

const MOST_MS = 365 * 86_400_000;

/** How long, in milliseconds. */
export const span = (least: string, leastMs: number) => ({
  type: 'span' as const,
  least,
  leastMs,
  mostMs: MOST_MS,
  isKept: (value: unknown): value is number =>
    typeof value === 'number' && value >= leastMs && value <= MOST_MS,
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

/** Any text but an empty one, which is most likely an unset variable; `form` and `example` say what it contains. */
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

/** A text for each of some names, such as inputs; `words`: the only ones. */
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
    Object.values(value).every((one) =>
      words === undefined ? typeof one === 'string' : words.includes(one),
    ),
});

/** Rows of a file by their numbers, both included. */
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

/** A part of the name of a task queue. */
export const tag = {
  type: 'tag' as const,
  isKept: (value: unknown): value is string =>
    typeof value === 'string' && /^[a-z0-9](?:[a-z0-9_.-]{0,38}[a-z0-9])?$/.test(value),
};

/** What happens to an attempt that may have started a run. Without `afterMs`, the time comes from the service's profile. */
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
