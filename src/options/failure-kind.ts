// Why a run failed, as far as that decides whether another run of the row may succeed.

export const FAILURE_KINDS = [
  'out-of-memory',
  'timeout',
  'cold-start',
  'node-error',
  'validation',
  'infrastructure',
  'unknown',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export type Failure = { readonly kind: FailureKind; readonly reason: string };

/** Retries of a row by the kind of its last failure. */
type RetriesByKind = Readonly<Partial<Record<FailureKind, number>>>;

type Policy = {
  readonly retries: number;
  readonly retriesByKind?: RetriesByKind;
  readonly ladder?: readonly string[];
};

/** Without enough memory a run fails again on the same GPU, except if another process took the memory. */
const OUT_OF_MEMORY_RETRIES = 1;

/** How often a row is retried after a failure of this kind: the user's number, else the default of the kind, else `retries`. */
export function retriesFor(kind: FailureKind, { retries, retriesByKind = {} }: Policy): number {
  // The same inputs are refused again, whatever the user asks for.
  if (kind === 'validation') return 0;
  const own = retriesByKind[kind];
  if (own !== undefined) return own;
  return kind === 'out-of-memory' ? Math.min(OUT_OF_MEMORY_RETRIES, retries) : retries;
}

/** The most retries that any row may have. With a ladder, it may climb as well. */
export const mostRetries = ({ retries, retriesByKind = {}, ladder = [''] }: Policy): number =>
  Math.max(retries, ...Object.values(retriesByKind)) + ladder.length - 1;
