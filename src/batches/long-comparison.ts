// Tells the user why a comparison with other batches takes long: thousands of batches in a bucket, or on a slow share, take minutes.

/** `overtaken`: another command is about to buy some of the rows, so they are compared again. */
export type LongComparison = 'slow' | 'overtaken';

const SLOW_MS = 3_000;

export async function saidIfSlow<T>(
  say: ((why: LongComparison) => void) | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => say?.('slow'), SLOW_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
