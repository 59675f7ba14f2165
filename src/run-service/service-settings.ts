// The defaults of the local run service. The help of `runsheet service` is made of them.

export const GIB = 2 ** 30;
export const DAY_MS = 86_400_000;

/** The published specification, or the vendor's own service where it differs. */
export const BEHAVIOURS = ['specification', 'vendor'] as const;

export const SERVICE_DEFAULTS = {
  host: '127.0.0.1',
  behaviour: 'specification',
  keepFilesDays: 7,
  /** For each owner of a service that several people share. */
  ownerUploadsGib: 100,
} as const;
