// Writes the rows of a new sheet in the order of the batch, or joins them with the picks of a user, in the order of those.

import { parseExactly } from '../../host/formats/exact-json.ts';
import { NearestName, problem } from '../../errors/error.ts';
import { rowsOf } from '../../results/batch-rows.ts';
import { SortedLines } from '../../store/sorted-lines.ts';
import type { Store } from '../../store/store.ts';
import type { Picks } from './picks.ts';
import { SheetWriter, type WrittenRows } from './sheet-writer.ts';
import { sourceRows, type RowCounts, type RowsParams } from './source-rows.ts';

export type WrittenSheet = RowCounts & WrittenRows;

type WriteParams = RowsParams & {
  readonly picks: Picks | undefined;
  readonly limit: number | undefined;
};

/** Throws E552 for picks that the batch does not have. */
export async function writeRows(to: Store, name: string, params: WriteParams): Promise<WrittenSheet> {
  const counts: RowCounts = { rows: 0, withoutFile: 0 };
  const sheet = new SheetWriter(to, name);
  try {
    for await (const values of params.picks === undefined
      ? inOrder(params, counts)
      : asPicked(params, params.picks, counts)) {
      if (sheet.rows === params.limit) break;
      const full = sheet.add(params.columns.all, values);
      if (full) await full;
    }
    return { ...counts, ...(await sheet.end()) };
  } finally {
    await sheet.discard();
  }
}

async function* inOrder(params: WriteParams, counts: RowCounts): AsyncGenerator<readonly unknown[]> {
  for await (const rows of sourceRows(params, () => true, counts)) yield* rows;
}

async function* asPicked(
  params: WriteParams,
  picks: Picks,
  counts: RowCounts,
): AsyncGenerator<readonly unknown[]> {
  using picked = new SortedLines();
  let rowPicks: readonly number[] = [];
  const isPicked = (row: Parameters<Picks['of']>[0]): boolean => (rowPicks = picks.of(row)).length > 0;
  for await (const rows of sourceRows(params, isPicked, counts))
    for (const pick of rowPicks) for (const values of rows) picked.add(pick, JSON.stringify(values));
  await refuseUnknown(params, picks);
  const { carried, added, all: columns } = params.columns;
  const places = picks.columns.map((name) => columns.indexOf(name));
  let pick = 0;
  for await (const cells of picks.cells()) {
    pick += 1;
    for (const line of picked.of(pick)) {
      const values = parseExactly(line) as readonly unknown[];
      const whole = [
        ...values.slice(0, carried.length),
        ...added.map(() => null),
        ...values.slice(carried.length),
      ];
      for (const [at, cell] of cells.entries()) whole[places[at] ?? 0] = cell === '' ? null : cell;
      yield whole;
    }
  }
}

async function refuseUnknown({ batchFolder }: WriteParams, picks: Picks): Promise<void> {
  const { count, first } = await picks.unknown();
  const [wrong] = first;
  if (wrong === undefined) return;
  const nearest = new NearestName(wrong.name);
  if (picks.by === 'key')
    for await (const { row } of rowsOf(batchFolder.store, batchFolder.file)) nearest.add(row.key);
  throw problem(
    'E552',
    {
      name: picks.name,
      batch: batchFolder.batch,
      column: picks.by,
      count,
      first: first.map(({ name }) => name),
      near: nearest.near,
      wrong: wrong.name,
    },
    { place: { file: picks.name, line: wrong.line } },
  );
}
