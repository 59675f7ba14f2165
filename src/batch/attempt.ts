// How an attempt and its run are identified, in the state and in Temporal payloads.

/** One attempt: one POST for a row, counted from 1. */
export type AttemptRef = { readonly row: number; readonly attempt: number };

/** A run that carries the token of an attempt. */
export type AttemptRun = AttemptRef & { readonly runId: string };

export const attemptKey = ({ row, attempt }: AttemptRef): string => `${row}/${attempt}`;
