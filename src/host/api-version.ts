/** The two generations of the service's interface; each has a base address of its own. */
export const APIS = ['v2', 'v1'] as const;
export type Api = (typeof APIS)[number];
