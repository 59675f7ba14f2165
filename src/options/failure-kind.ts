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

export const EXPORT_FORMATS = ['xlsx', 'csv', 'jsonl', 'zip'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What makes rows of two batches a pair. */
export const PAIRED_BY = ['key', 'inputs'] as const;
export type PairedBy = (typeof PAIRED_BY)[number];

/** What happens if a batch of an earlier firing runs. */
export const OVERLAPS = ['skip', 'buffer', 'cancel'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** The values that Queue Run accepts, according to the service's specification. */
export const GPUS = ['T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB', 'H100'] as const;
export type Gpu = (typeof GPUS)[number];

export function isGpu(name: string): name is Gpu {
  return (GPUS as readonly string[]).includes(name);
}

/** US dollars per second, used if `GET /platform/gpu-pricing` fails. */
export const DEFAULT_PRICES: Readonly<Record<string, number>> = {
  CPU: 0.000042,
  T4: 0.00018,
  L4: 0.00032,
  A10G: 0.000337,
  L40S: 0.000596,
  A100: 0.00114,
  'A100-80GB': 0.001708,
  H100: 0.002338,
  H200: 0.001891,
  B200: 0.002604,
};

/**
 * The estimated cost of a run in US dollars. The service bills the container's lifetime, which is longer than these
 * seconds.
 */
export function costOf(
  prices: Readonly<Record<string, number>>,
  gpu: string | undefined,
  seconds: { readonly coldStart?: number | undefined; readonly run?: number | undefined },
): number {
  const price = gpu === undefined ? 0 : (prices[gpu] ?? DEFAULT_PRICES[gpu] ?? 0);
  return price * (Math.max(0, seconds.coldStart ?? 0) + Math.max(0, seconds.run ?? 0));
}
