// Puts the rows of a canary at the beginning of their lanes, before the batch exists.

import type { Canary } from '../batch/params.ts';
import { traitsOf } from '../sheet/canary/row-traits.ts';
import { SpanningRows, type ChosenRow } from '../sheet/canary/spanning-rows.ts';
import { readPage } from '../sheet/pages.ts';
import type { Queued } from '../sheet/queue.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { writeCanary, type CanaryRows } from '../store/canary-file.ts';
import type { Store } from '../store/store.ts';
import { queuedIn, rewriteQueue } from './rewrite-queue.ts';

type Draft = {
  readonly file: BatchFile;
  readonly laidOut: LaidOut;
  readonly layout: Store;
  readonly canary?: CanaryRows;
};

/** A batch without other rows needs no canary. */
export async function canaryFirst<D extends Draft>(draft: D, wanted: Canary | undefined): Promise<D> {
  if (wanted === undefined) return draft;
  const { file, laidOut, layout } = draft;
  const { chosen, rows } = await choose(draft, wanted.rows);
  if (chosen.length >= rows) return draft;
  const ordered = await rewriteQueue(draft, (queued, lane) => firstOf(queued, rowsIn(chosen, lane)));
  const lanes = ordered.map((spec, lane) => {
    const { size } = rowsIn(chosen, lane);
    return size === 0 ? spec : { ...spec, canary: size };
  });
  const canary = chosen.map(({ row, why, share }) => ({ row, why: [...why], share }));
  await writeCanary(layout, canary);
  const sheet = { ...file.sheet, lanes, isQueued: true };
  return {
    ...draft,
    file: { ...file, sheet, canary: { rows: chosen.length, asks: wanted.asks } },
    laidOut: { ...laidOut, lanes, isQueued: true },
    canary,
  };
}

const NO_LANE = 255;

async function choose(
  { file, laidOut, layout }: Draft,
  most: number,
): Promise<{ readonly chosen: readonly ChosenRow[]; readonly rows: number }> {
  const laneOf = new Uint8Array(file.sheet.rows + 1).fill(NO_LANE);
  let rows = 0;
  for (const lane of laidOut.lanes.keys())
    for await (const { row } of queuedIn(layout, laidOut, lane)) {
      laneOf[row] = lane;
      rows += 1;
    }
  const spanning = new SpanningRows();
  for (let page = 1; page <= file.sheet.pages; page += 1)
    for (const { row, inputs } of await readPage(layout, page)) {
      const lane = laneOf[row] ?? NO_LANE;
      if (lane !== NO_LANE) spanning.add({ row, lane, traits: traitsOf(inputs) });
    }
  return { chosen: spanning.choose(most), rows };
}

const rowsIn = (chosen: readonly ChosenRow[], lane: number): ReadonlySet<number> =>
  new Set(chosen.filter((one) => one.lane === lane).map(({ row }) => row));

/** The rows in `first` before all others. */
async function* firstOf(queued: AsyncIterable<Queued>, first: ReadonlySet<number>): AsyncGenerator<Queued> {
  for (const row of first) yield { row };
  for await (const one of queued) if (!first.has(one.row)) yield one;
}
