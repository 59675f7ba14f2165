// The prices of GPUs, and the estimated cost of a run by them.
import { DEFAULT_PRICES } from './gpu.ts';

/** US dollars per second; undefined if neither the service nor runsheet knows the price of the GPU. */
export function priceOf(prices: Readonly<Record<string, number>>, gpu: string): number | undefined {
  const priced = [prices, DEFAULT_PRICES].find((table) => Object.hasOwn(table, gpu));
  return priced?.[gpu];
}

/** GPUs of one's own are listed with price 0, which means no price: costs that do not exist are not shown as 0. */
export function havePrices(prices: Readonly<Record<string, number>>): boolean {
  const amounts = Object.values(prices);
  return amounts.length === 0 || amounts.some((price) => price > 0);
}

/** A sum of costs; null if no cost in it is known, because an unknown cost is not $0. `unpriced`: attempts of unknown cost. */
export const knownCost = (usd: number, unpriced = 0): number | null =>
  usd === 0 && unpriced > 0 ? null : usd;

/** `value` without its costs if there are none. */
export const withCosts = <T>(prices: Readonly<Record<string, number>>, value: T): T =>
  havePrices(prices)
    ? value
    : (JSON.parse(
        JSON.stringify(value, (name, member: unknown) => (/cost_?usd$/i.test(name) ? undefined : member)),
      ) as T);

/**
 * The estimated cost of a run in US dollars; undefined if its price is not known. The service bills the container's
 * lifetime, which is longer than these seconds.
 */
export function costOf(
  prices: Readonly<Record<string, number>>,
  gpu: string | undefined,
  seconds: {
    readonly coldStart?: number | undefined;
    readonly run?: number | undefined;
    /** In machines that were lost with it. */
    readonly lost?: number | undefined;
  },
): number | undefined {
  if (!havePrices(prices)) return undefined;
  const { coldStart = 0, run = 0, lost = 0 } = seconds;
  const billed = Math.max(0, coldStart) + Math.max(0, run) + Math.max(0, lost);
  if (billed === 0) return 0;
  const price = gpu === undefined ? undefined : priceOf(prices, gpu);
  return price === undefined ? undefined : price * billed;
}
