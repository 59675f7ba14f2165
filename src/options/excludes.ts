// Options that exclude each other.

/** Two options that exclude each other. `ofValues` limits the rule to some of their values. */
export type Excludes = {
  readonly both: readonly [string, string];
  readonly ofValues?: (first: unknown, second: unknown) => boolean;
  readonly why?: string;
  readonly hint: string;
};

/** A ladder and a concurrency that the batch finds itself: commands, sheets and changes of a running batch refuse it alike. */
export const AUTO_WITH_LADDER = {
  both: ['concurrency', 'ladder'],
  ofValues: (concurrency) => typeof concurrency === 'object',
  why: 'rows of several size classes share each GPU',
  hint: 'with a ladder, give a fixed number',
} as const satisfies Excludes;

export const AUTO_EXCLUDES_LADDER = `concurrency auto and ladder exclude each other: ${AUTO_WITH_LADDER.why}`;

const EXCLUDES: readonly Excludes[] = [
  {
    both: ['ladder', 'gpu'],
    why: 'both are for rows that name no GPU',
    hint: 'for a row that must run on one GPU, name it in the column gpu',
  },
  AUTO_WITH_LADDER,
];

/** The first rule that the values break; absent and false values break none. */
export function brokenRule(options: object, rules: readonly Excludes[] = EXCLUDES): Excludes | undefined {
  const values: Readonly<Record<string, unknown>> = { ...options };
  const isGiven = (option: string): boolean => values[option] !== undefined && values[option] !== false;
  return rules.find(
    ({ both: [first, second], ofValues }) =>
      isGiven(first) && isGiven(second) && (ofValues?.(values[first], values[second]) ?? true),
  );
}
