// When a batch that was hit is as fast as before, by what the service recorded.

const WINDOW_MS = 2_000;
const SHARE = 0.9;

type Ended = { readonly endedAtMs?: number | undefined };

/**
 * From the kill to the first moment from which, over 2 s, 0.9 of the ends of before come; the first 2 s still show runs from
 * before. undefined where that had not come by `until`, in ms since 1970.
 */
export function secondsToFullSpeed(
  runs: readonly Ended[],
  killedAt: number,
  until = Date.now(),
): number | undefined {
  const endsFrom = (from: number): number =>
    runs.filter(({ endedAtMs = 0 }) => endedAtMs >= from && endedAtMs < from + WINDOW_MS).length;
  const wanted = SHARE * endsFrom(killedAt - WINDOW_MS);
  for (let from = killedAt + WINDOW_MS; from + WINDOW_MS <= until; from += 100)
    if (endsFrom(from) >= wanted) return (from - killedAt) / 1000;
  return undefined;
}
