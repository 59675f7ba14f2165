// Reads how the rows of a batch stand, while it runs or after it. The summary is read before the parts: if the batch ends meanwhile, its
// last rows count as open.

import { recordsOf, rowsOf, type BatchRow } from '../results/batch-rows.ts';
import { summarizedPass } from '../results/summary.ts';
import type { Queued } from '../sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import { FIRST_PASS, newestPass, readSegments } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import { hasPlace, placesIn } from './watched/sheet-places.ts';

type Batch = { readonly store: Store; readonly file: BatchFile };

export type StandingRow = BatchRow & {
  /** How the row is being sent again. */
  readonly sentAgain: Queued | undefined;
  /** Being sent, or still to be sent. A row that had no record when its batch ended was never sent. */
  readonly isOpen: boolean;
};

/** Whether the row could not be read from its sheet, and no later sheet has its inputs: it is no request. */
export const isUnread = ({ row, record, sentAgain }: StandingRow): boolean =>
  row.refused !== undefined && (sentAgain ?? record)?.change === undefined;

export type Standing = {
  /** The newest pass whose rows count. */
  readonly newest: number;
  /** The rows from this number on, in the order of the sheet. */
  readonly rows: (from?: number) => AsyncGenerator<StandingRow>;
};

export async function readStanding({ store, file }: Batch): Promise<Standing> {
  const ended = await summarizedPass(store);
  const newest = await newestPass(store);
  const inFlight = await rowsInFlight({ store, file }, ended, newest);
  async function* rows(from = 1): AsyncGenerator<StandingRow> {
    for await (const row of rowsOf(store, file, { from, through: newest })) {
      const sentAgain = inFlight.get(row.row.row);
      const isUnsent = row.record === undefined && ended === undefined;
      yield { ...row, sentAgain, isOpen: isUnsent || sentAgain !== undefined };
    }
  }
  return { newest, rows };
}

/** Rows that passes after `ended` send, and that have no new record yet: as they were asked. */
async function rowsInFlight(
  { store, file }: Batch,
  ended: number | undefined,
  newest: number,
): Promise<ReadonlyMap<number, Queued>> {
  const segments = await readSegments(store, ended ?? FIRST_PASS, newest);
  const rows = new Map<number, Queued>();
  if (segments.length === 0) return rows;
  const done = new Set<number>();
  for await (const { place } of recordsOf(store)) if (hasPlace(segments, place)) done.add(place);
  for (const segment of segments)
    for await (const { place, queued } of placesIn(layoutOf(store, file), segment))
      if (!done.has(place)) rows.set(queued.row, queued);
  return rows;
}
