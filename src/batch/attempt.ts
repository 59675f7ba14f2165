// How an attempt and its run are identified, in the state and in Temporal payloads.

/**
 * One try to start a run for a row, counted from 1. It is POSTed again under the same token while the service turns it
 * away or cannot be reached.
 */
export type AttemptRef = { readonly place: number; readonly attempt: number };

/** An attempt to be sent; `gpu`: the rung of a ladder on which it runs. */
export type SentAttempt = AttemptRef & { readonly gpu?: string };

/** A run that carries the token of an attempt. */
export type AttemptRun = AttemptRef & { readonly runId: string };

export const attemptKey = ({ place, attempt }: AttemptRef): string => `${place}/${attempt}`;
