// The names of GPUs, and their default prices for when the service returns none.

/** The values that Queue Run accepts: the service's specification names these, and neither H200 nor B200. */
export const GPUS = ['T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB', 'H100'] as const;
export type Gpu = (typeof GPUS)[number];

export function isGpu(name: string): name is Gpu {
  return (GPUS as readonly string[]).includes(name);
}

/** The memory of each GPU in GB. */
export const GPU_MEMORY_GB: Readonly<Record<Gpu | 'H200' | 'B200', number>> = {
  T4: 16,
  L4: 24,
  A10G: 24,
  L40S: 48,
  A100: 40,
  'A100-80GB': 80,
  H100: 80,
  H200: 141,
  B200: 192,
};

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
