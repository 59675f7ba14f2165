// The price of a vendor, stated by its user or described by the vendor, and the cost of a run there: as the vendor tells at
// its end, else by the stated price, else by the described one. An unknown cost is never 0.

import { nanoOf } from '../../options/text/printed-numbers.ts';
import { z } from 'zod';

/**
 * Nano-dollars of a run, of a second of it, or of a file that it makes; `told`: the vendor tells the cost of most runs at their
 * end. `isDescribed`: no user has stated it.
 */
export type Price =
  | {
      readonly per: 'run' | 'second' | 'output';
      readonly nano: number;
      readonly isDescribed?: true | undefined;
    }
  | { readonly per: 'told' };

/** Far above any price. */
const MAX_NANO = 1e13;

export const statedPriceSchema = z.strictObject({
  per: z.enum(['run', 'second']),
  nano: z.int().positive().max(MAX_NANO),
});

const describedPriceSchema = z.object({
  per: z.enum(['run', 'second', 'output']),
  nano: z.number().positive().max(MAX_NANO).transform(Math.ceil),
  isDescribed: z.literal(true).default(true),
});

/** The price that a vendor describes; undefined if it is none. */
export const describedPrice = (price: unknown): Price | undefined =>
  describedPriceSchema.safeParse(price).data;

/** The price of a model that is named again: a stated one holds until another one is stated. */
export const priceAfter = (before: Price | undefined, now: Price | undefined): Price | undefined =>
  isStated(before) && !isStated(now) ? before : now;

const isStated = (price: Price | undefined): boolean =>
  price !== undefined && price.per !== 'told' && price.isDescribed !== true;

type EndedRun = {
  /** Whether the vendor may have taken the run. */
  readonly isSent: boolean;
  readonly reportedNano: number | undefined;
  /** How long the vendor says that it executed. */
  readonly ranMs: number | undefined;
  /** How many files it made; undefined if it did not succeed. */
  readonly files?: number | undefined;
};

/** In whole nano-dollars; undefined if it is not known. */
export function costNanoOf(
  price: Price | undefined,
  { isSent, reportedNano, ranMs, files }: EndedRun,
): number | undefined {
  if (reportedNano !== undefined) return reportedNano;
  if (!isSent) return 0;
  if (price?.per === 'run') return price.nano;
  if (price?.per === 'output') return files ? price.nano * files : undefined;
  return price?.per === 'second' && ranMs !== undefined
    ? Math.round((price.nano * ranMs) / 1_000)
    : undefined;
}

/** The cost of a run that a vendor tells as US dollars in a text. */
export function nanoOfUsd(text: unknown): number | undefined {
  const usd = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
  return usd >= 0 ? nanoOf(usd) : undefined;
}
