// Chooses the rows of a canary, and puts them before all others in the queue.

import type { Canary } from '../batch/params.ts';
import type { Queued } from '../sheet/placed-rows.ts';
import type { DraftBatch } from './laid-out-sheet.ts';
import { queuedIn, rewriteQueue } from './queue-pages.ts';

/** A batch without other rows needs no canary. */
export async function canaryFirst(draft: DraftBatch, wanted: Canary | undefined): Promise<DraftBatch> {
  if (wanted === undefined) return draft;
  const { file, laidOut, layout } = draft;
  const rows = await Promise.all(
    laidOut.lanes.map(async (_, lane) => {
      const queued = await Array.fromAsync(queuedIn(layout, laidOut, lane), ({ row }) => row);
      return queued.toSorted((a, b) => a - b);
    }),
  );
  if (rows.flat().length <= wanted.rows) return draft;
  const chosen = canaryRows(rows, wanted.rows);
  const ordered = await rewriteQueue(draft, (queued, lane) => firstOf(queued, new Set(chosen[lane])));
  const lanes = ordered.map((spec, lane) => {
    const own = chosen[lane]?.length ?? 0;
    return own === 0 ? spec : { ...spec, canary: own };
  });
  const canary = chosen.flat();
  return {
    ...draft,
    file: {
      ...file,
      sheet: { ...file.sheet, lanes, isQueued: true },
      canary: { rows: canary.length, asks: wanted.asks },
    },
    laidOut: { ...laidOut, lanes, isQueued: true },
    canary,
  };
}

/** Evenly spaced rows of each lane: its share of all, and at least one if there are as many as lanes. */
export function canaryRows(
  lanes: readonly (readonly number[])[],
  most: number,
): readonly (readonly number[])[] {
  const counts = lanes.map(() => 0);
  for (let left = most; left > 0; left -= 1) {
    // Lanes without a chosen row are first, the largest before the others.
    const ranks = lanes.map(({ length }, at) => (counts[at] ? counts[at] / length : -length));
    const next = ranks.indexOf(Math.min(...ranks));
    counts[next] = (counts[next] ?? 0) + 1;
  }
  return lanes.map((rows, lane) => {
    const count = counts[lane] ?? 0;
    return Array.from(
      { length: count },
      (_, at) => rows[Math.floor(((at + 0.5) * rows.length) / count)] ?? 0,
    );
  });
}

/** Yields the rows in `first`, then the other queued rows. */
async function* firstOf(queued: AsyncIterable<Queued>, first: ReadonlySet<number>): AsyncGenerator<Queued> {
  for (const row of first) yield { row };
  for await (const row of queued) if (!first.has(row.row)) yield row;
}
