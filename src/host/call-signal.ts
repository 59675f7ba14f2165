// The AbortSignal of a library call. The call runs in an async context, so that everything below it that waits, reads or sends
// can end early without receiving the signal. After the call nothing listens to the signal, so a page that it opened stays open.

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';

/** The options of a call that can end early. */
export type Abortable = {
  /**
   * Ends the call: it stops waiting and sending, removes what it has prepared, and rejects with the signal's reason, an
   * `AbortError` by default. Effects that are already in force stay.
   */
  readonly signal?: AbortSignal | undefined;
};

const calls = new AsyncLocalStorage<AbortSignal | undefined>();

/** undefined outside of a call with a signal. */
export const callSignal = (): AbortSignal | undefined => calls.getStore();

/** Runs work that several calls share, which must not end with one of them. */
export const outsideCalls = <T>(work: () => T): T => calls.run(undefined, work);

/** Throws the reason of the call's signal if it is aborted. */
export const throwIfCallAborted = (): void => callSignal()?.throwIfAborted();

/** Waits `ms`, but no longer than the call. */
export const waitInCall = (ms: number): Promise<void> => wait(ms, undefined, definedSignal(callSignal()));

/** A signal that aborts with `signal` or with the call. */
export const withCallSignal = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, ...(callSignal() ? [callSignal() as AbortSignal] : [])]);

const definedSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

/** Waits for work that continues even if the signal ends the wait. */
export async function unlessAborted<T>(work: Promise<T>, signal = callSignal()): Promise<T> {
  if (signal === undefined) return work;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Calls `work` in the context of the signal. Interrupted work fails with its own errors, so the signal's reason is thrown instead. */
export async function callWith<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  using call = callOf(signal);
  // Awaited here, because the signal counts until this returns.
  return await call.step(work);
}

/** Like {@link callWith}, for values that are read one by one. */
export async function* readWith<T>(signal: AbortSignal, open: () => AsyncGenerator<T>): AsyncGenerator<T> {
  using call = callOf(signal);
  const reading = await call.step(open);
  try {
    for (;;) {
      const next = await call.step(() => reading.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await reading.return(undefined);
  }
}

function callOf(signal: AbortSignal) {
  const call = new AbortController();
  const abort = (): void => call.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return {
    step: async <T>(work: () => T | Promise<T>): Promise<T> => {
      call.signal.throwIfAborted();
      try {
        return await calls.run(call.signal, work);
      } catch (error) {
        call.signal.throwIfAborted();
        throw error;
      }
    },
    [Symbol.dispose]: () => signal.removeEventListener('abort', abort),
  };
}
