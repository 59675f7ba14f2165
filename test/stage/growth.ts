// Measures how the work of a function grows with its input, in processor time of this thread, which load does not change.

/** Quadratic work takes 64 times as long. */
const TIMES = 8;
/** Linear work takes 8 times as long; a garbage collection or a cold cache may double or triple that. */
export const MAX_LINEAR = 24;
/** Shorter times say nothing of the work. */
const SHORTEST_MS = 4;
const ROUNDS = 5;

async function threadMs(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

/** How many times as long an input of eight times the size takes: at most MAX_LINEAR if the work is linear. */
export async function growthOf<T>(
  size: number,
  made: (size: number) => T,
  work: (input: T) => unknown,
): Promise<number> {
  const [small, large] = [made(size), made(size * TIMES)];
  const best = { small: Infinity, large: Infinity };
  for (let round = 0; round < ROUNDS; round += 1) {
    best.small = Math.min(best.small, await threadMs(() => work(small)));
    best.large = Math.min(best.large, await threadMs(() => work(large)));
    // Another round helps only work that was disturbed.
    if (ratio(best) <= MAX_LINEAR || best.large > HOPELESS_MS) break;
  }
  return ratio(best);
}
const HOPELESS_MS = 5_000;

const ratio = ({ small, large }: { readonly small: number; readonly large: number }): number =>
  large / Math.max(small, SHORTEST_MS);
