// The cost of a run at a vendor: as the vendor tells, else by the price that its user states. An unknown cost is
// never 0.

import { z } from 'zod';

/** Nano-dollars of a run, or of a second of it; `told`: the vendor tells the cost of most runs at their end. */
export type Price = { readonly per: 'run' | 'second'; readonly nano: number } | { readonly per: 'told' };

/** Far above any price. */
const MAX_NANO = 1e13;

export const statedPriceSchema = z.strictObject({
  per: z.enum(['run', 'second']),
  nano: z.int().positive().max(MAX_NANO),
});

type EndedRun = {
  /** Whether the vendor may have taken the run. */
  readonly isSent: boolean;
  readonly reportedNano: number | undefined;
  /** How long the vendor says that it executed. */
  readonly ranMs: number | undefined;
};

/** In whole nano-dollars; undefined if it is not known. */
export function costNanoOf(
  price: Price | undefined,
  { isSent, reportedNano, ranMs }: EndedRun,
): number | undefined {
  if (reportedNano !== undefined) return reportedNano;
  if (!isSent) return 0;
  if (price?.per === 'run') return price.nano;
  return price?.per === 'second' && ranMs !== undefined
    ? Math.round((price.nano * ranMs) / 1_000)
    : undefined;
}

/** The cost of a run that a vendor tells as US dollars in a text. */
export function nanoOfUsd(text: unknown): number | undefined {
  const usd = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
  return usd >= 0 ? usd * 1e9 : undefined;
}
