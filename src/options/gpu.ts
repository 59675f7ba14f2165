// The names of GPUs, and their default prices for when the service returns none.

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

/** GPUs of one's own are listed with price 0, which means no price: costs that do not exist are not shown as 0. */
export function havePrices(prices: Readonly<Record<string, number>>): boolean {
  const amounts = Object.values(prices);
  return amounts.length === 0 || amounts.some((price) => price > 0);
}

/** `value` without its costs if there are none. */
export const withCosts = <T>(prices: Readonly<Record<string, number>>, value: T): T =>
  havePrices(prices)
    ? value
    : (JSON.parse(
        JSON.stringify(value, (name, member: unknown) => (/cost_?usd$/i.test(name) ? undefined : member)),
      ) as T);

/**
 * The estimated cost of a run in US dollars. The service bills the container's lifetime, which is longer than these
 * seconds.
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
  const price = gpu === undefined ? 0 : (prices[gpu] ?? DEFAULT_PRICES[gpu] ?? 0);
  const { coldStart = 0, run = 0, lost = 0 } = seconds;
  return price * (Math.max(0, coldStart) + Math.max(0, run) + Math.max(0, lost));
}
