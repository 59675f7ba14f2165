// Measures the speed of a batch by the end times of its runs at the service.

const WINDOW_MS = 2_000;
/** A window of 2 s varies by up to a sixth, so the speed before is measured over a longer window. */
const BEFORE_MS = 4_000;
const STEP_MS = 100;
const SHARE = 0.9;

/**
 * The time from a kill to the start of the first window of 2 s with 0.9 of the speed in the 4 s before the kill. The
 * first 2 s are skipped, because they contain runs from before. undefined if there is no such window until `until` (ms
 * since 1970).
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
