// Kinds of failed runs, as far as they decide whether another run of the row may succeed.

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

export type RunFailure = { readonly kind: FailureKind; readonly reason: string };

/** Retries of a row by the kind of its last failure. */
type RetriesByKind = Readonly<Partial<Record<FailureKind, number>>>;

type Policy = {
  readonly retries: number;
  readonly retriesByKind?: RetriesByKind;
  readonly ladder?: readonly string[];
};

/** A run without enough memory fails again on the same GPU, unless another process took the memory. */
const OUT_OF_MEMORY_RETRIES = 1;

/**
 * How many times a row is retried after this kind of failure: the user's number, else the default of the kind, else
 * `retries`.
 */
export function retriesFor(kind: FailureKind, { retries, retriesByKind = {} }: Policy): number {
  // The service refuses the same inputs again, whatever the user asks for.
  if (kind === 'validation') return 0;
  const own = retriesByKind[kind];
  if (own !== undefined) return own;
  return kind === 'out-of-memory' ? Math.min(OUT_OF_MEMORY_RETRIES, retries) : retries;
}

/** The most retries of any row. With a ladder, a row may climb as well. */
export const mostRetries = ({ retries, retriesByKind = {}, ladder = [''] }: Policy): number =>
  Math.max(retries, ...Object.values(retriesByKind)) + ladder.length - 1;
