// Writes the rows of a new sheet, one JSON object a line, in the order of the batch or of its picks.

import { createHash } from 'node:crypto';
import { parseExactly } from '../../host/exact-json.ts';
import { NearestName, problem } from '../../errors/error.ts';
import { rowsOf } from '../../results/batch-rows.ts';
import { Pieces } from '../../store/pieces.ts';
import { SortedLines } from '../../store/sorted-lines.ts';
import type { Store } from '../../store/store.ts';
import type { Picks } from './picks.ts';
import { sourceRows, type RowCounts, type RowsParams } from './source-rows.ts';

export type WrittenSheet = RowCounts & {
  readonly written: number;
  readonly sha256: string;
  readonly bytes: number;
};

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

export class SheetWriter {
  readonly #pieces;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  rows = 0;

  constructor(to: Store, name: string) {
    this.#pieces = new Pieces(() => to.draft(name));
  }

  /** Returns a promise if the caller has to wait for the disk. */
  add(columns: readonly string[], values: readonly unknown[]): Promise<void> | undefined {
    const members = columns.map(
      (name, at) => `${JSON.stringify(name)}:${JSON.stringify(values[at] ?? null)}`,
    );
    // JSON allows this control character, a sheet does not.
    const line = `{${members.join(',')}}\n`.replaceAll('\u007F', String.raw`\u007f`);
    this.rows += 1;
    this.#bytes += Buffer.byteLength(line);
    this.#hash.update(line);
    return this.#pieces.add(line);
  }

  async end(): Promise<Pick<WrittenSheet, 'written' | 'sha256' | 'bytes'>> {
    await this.#pieces.commit();
    return { written: this.rows, sha256: this.#hash.digest('hex'), bytes: this.#bytes };
  }

  discard(): Promise<void> {
    return this.#pieces.discard();
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
