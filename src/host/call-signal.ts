// The AbortSignal of a call of the library. The call runs in its context, so that whatever waits, reads or sends on the way can end
// early without being given the signal. When the call is over nothing listens to the signal any more, so a page that it opened stays open.

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';

/** What ends a call early. */
export type Abortable = {
  /**
   * Ends the call: what it waits for and what it sends is given up, what it has prepared is removed, and it rejects with the reason of the
   * signal, an `AbortError` by default. What is in force already stays.
   */
  readonly signal?: AbortSignal | undefined;
};

const calls = new AsyncLocalStorage<AbortSignal | undefined>();

/** undefined outside of a call that has one. */
export const callSignal = (): AbortSignal | undefined => calls.getStore();

/** What several calls share must not end with one of them. */
export const outsideCalls = <T>(work: () => T): T => calls.run(undefined, work);

/** Throws the reason of the signal of the call. */
export const throwIfCallAborted = (): void => callSignal()?.throwIfAborted();

/** A moment that ends with the call. */
export const waitInCall = (ms: number): Promise<void> => wait(ms, undefined, definedSignal(callSignal()));

/** Aborted with the first of them, or with the call. */
export const withCallSignal = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, ...(callSignal() ? [callSignal() as AbortSignal] : [])]);

const definedSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

/** Waits for work that goes on if the signal ends the waiting. */
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

/** Calls `work` in the context of the signal. What was interrupted fails in words of its own, so the reason of the signal is thrown. */
export async function callWith<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  using call = callOf(signal);
  // Awaited here, because the signal counts until this returns.
  return await call.step(work);
}

/** As {@link callWith}, for what is read one by one. */
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
