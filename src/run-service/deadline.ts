// The deadline of one call. `AbortSignal.timeout` would stay until its time even if the call has ended, and then make an error.

/** Calls `work` with a signal that aborts after `ms`, unless the work has ended. */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(timeoutError()), ms).unref();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What `AbortSignal.timeout` aborts with. */
const timeoutError = (): DOMException =>
  new DOMException('The operation was aborted due to timeout', 'TimeoutError');
