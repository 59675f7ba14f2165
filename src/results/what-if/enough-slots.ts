// How many slots are enough: the batch is replayed at several caps.

import type { Figures } from './figures.ts';

export type Enough = {
  /** More slots make the batch hardly faster. */
  readonly slots: number;
  /** Some caps with their figures, the smallest first; among them `slots` and twice as many. */
  readonly curve: readonly (Figures & { readonly concurrency: number })[];
};

/** A batch that is faster by less than this is hardly faster. */
const HARDLY = 0.01;
/** The search needs only a comparison; the figures that people see come from more rows. At least four for each slot. */
const SEARCH_ROWS = 1_000;

/** Even if a slot is free for as long as a run takes, twice as many slots as machines are enough. */
const SLOTS_PER_MACHINE = 4;

type Asked = {
  readonly machines: number;
  /** A cap that the curve has anyway, and its figures. */
  readonly asked: Figures & { readonly concurrency: number };
  /** Another one. */
  readonly before: number;
  readonly rows: number;
  readonly rowsMost: number;
};

export function enoughSlots(
  replayAt: (concurrency: number, rowsMost: number) => Figures,
  { machines, asked, before, rows, rowsMost }: Asked,
): Enough {
  const most = Math.max(1, Math.min(rows, SLOTS_PER_MACHINE * machines));
  const few = Math.min(rowsMost, Math.max(SEARCH_ROWS, 4 * most));
  const secondsAt = (concurrency: number): number => replayAt(concurrency, few).seconds;
  const best = secondsAt(most) * (1 + HARDLY);
  let [low, high] = [1, most];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (secondsAt(middle) <= best) high = middle;
    else low = middle + 1;
  }
  const shown = new Set([
    Math.ceil(high / 4),
    Math.ceil(high / 2),
    high,
    2 * high,
    before,
    asked.concurrency,
  ]);
  const curve = [...shown]
    .sort((a, b) => a - b)
    .map((concurrency) =>
      concurrency === asked.concurrency ? asked : { concurrency, ...replayAt(concurrency, rowsMost) },
    );
  return { slots: high, curve };
}
