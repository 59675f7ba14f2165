// How fast a batch is, by the moments at which the service says that its runs ended.

const WINDOW_MS = 2_000;
const STEP_MS = 100;
const SHARE = 0.9;

/**
 * From a kill to the first moment from which, over 2 s, 0.9 of the ends of the 2 s before come; the first 2 s still show
 * runs from before. undefined where that was not so until the moment `until`, in milliseconds since 1970.
 */
export function secondsToFullSpeed(
  endedAtMs: readonly number[],
  killedAt: number,
  until = Date.now(),
): number | undefined {
  const endsFrom = (from: number): number =>
    endedAtMs.filter((at) => at >= from && at < from + WINDOW_MS).length;
  const wanted = SHARE * endsFrom(killedAt - WINDOW_MS);
  for (let from = killedAt + WINDOW_MS; from + WINDOW_MS <= until; from += STEP_MS)
    if (endsFrom(from) >= wanted) return (from - killedAt) / 1000;
  return undefined;
}
