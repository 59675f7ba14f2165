/** HTTP statuses that ask the client to wait and say nothing about the request: too slow, too early, too many. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429]);

export const isRetryable = (status: number): boolean => RETRYABLE.has(status);
