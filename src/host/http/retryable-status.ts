// Answers that ask the client to try again: their statuses, and the time that they name.

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Say nothing about the request: too slow, too early, too many. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429]);

export const isRetryable = (status: number): boolean => RETRYABLE.has(status);

/** The Retry-After header in milliseconds from now, given as seconds or a date; undefined if missing or invalid. */
export function retryAfterOf({ headers }: { readonly headers: Headers }): number | undefined {
  const header = headers['retry-after'];
  const value = typeof header === 'object' ? header[0] : header;
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
