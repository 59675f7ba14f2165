// How fast a batch is, by the moments at which the service says that its runs ended.

const WINDOW_MS = 2_000;
/** A window of 2 s may be lucky by a sixth; what was before is measured over more. */
const BEFORE_MS = 4_000;
const STEP_MS = 100;
const SHARE = 0.9;

/**
 * From a kill to the first moment from which, over 2 s, 0.9 as many runs end as in the 4 s before; the first 2 s still show
 * runs from before. undefined where that was not so until the moment `until`, in milliseconds since 1970.
 */
export function secondsToFullSpeed(
  endedAtMs: readonly number[],
  killedAt: number,
  until = Date.now(),
): number | undefined {
  const endsFrom = (from: number, ms = WINDOW_MS): number =>
    endedAtMs.filter((at) => at >= from && at < from + ms).length;
  const wanted = SHARE * endsFrom(killedAt - BEFORE_MS, BEFORE_MS) * (WINDOW_MS / BEFORE_MS);
  for (let from = killedAt + WINDOW_MS; from + WINDOW_MS <= until; from += STEP_MS)
    if (endsFrom(from) >= wanted) return (from - killedAt) / 1000;
  return undefined;
}
