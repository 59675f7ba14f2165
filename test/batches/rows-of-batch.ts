// The rows of a batch as results and workers read them.

import { placeIn } from '../../src/batch/state/lanes.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { rowsOf } from '../../src/results/batch-rows.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { cacheRows } from '../../src/sheet/placed-rows.ts';
import { layoutOf } from '../../src/store/batch-file.ts';

export async function recordsIn({ store, file }: CreatedBatch): Promise<readonly (PartRecord | undefined)[]> {
  const records = [];
  for await (const { record } of rowsOf(store, file)) records.push(record);
  return records;
}

/** The rows of a lane in the order in which they are sent. */
export async function sentIn({ store, file }: CreatedBatch, lane: number): Promise<readonly number[]> {
  const places = file.sheet.lanes?.[lane]?.places ?? 0;
  const lanePlaces = Array.from({ length: places }, (_, at) => placeIn(lane, at + 1));
  const rowsByPlace = await cacheRows(10)(layoutOf(store, file), file.sheet, lanePlaces);
  return lanePlaces.map((at) => rowsByPlace.get(at)?.row ?? 0);
}
