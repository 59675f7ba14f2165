/** The two versions of the service's API; each has its own base address. */
export const APIS = ['v2', 'v1'] as const;
export type Api = (typeof APIS)[number];
