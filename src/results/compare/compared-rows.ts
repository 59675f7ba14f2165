// Compares the same rows in two batches: pairs them, adds up, and gives the page what it shows.

import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { rowsOf, shownRow, type ShownRow } from '../batch-rows.ts';
import { SumUp, comparedPair, comparedRow, type ComparisonSums } from './compared-pair.ts';
import { ComparisonPage } from '../page/comparison-page.ts';
import type { PairedBy } from '../../options/choices.ts';

type Compared = { readonly store: Store; readonly file: BatchFile };

export type ComparedRows = { readonly sums: ComparisonSums; readonly page: ComparisonPage };

/** Keys only say the same in two batches if both sheets have a column of keys. */
export const pairedByDefault = (a: BatchFile, b: BatchFile): PairedBy =>
  a.sheet.options.keyColumn === undefined || b.sheet.options.keyColumn === undefined ? 'inputs' : 'key';

export async function compareRows(a: Compared, b: Compared, by: PairedBy): Promise<ComparedRows> {
  const [sum, page] = [new SumUp(), new ComparisonPage()];
  const nameOf = by === 'key' ? ({ key }: ShownRow) => key : inputsText;
  for await (const both of pairedRows(rowsIn(a), rowsIn(b), nameOf)) {
    if ('a' in both && 'b' in both) {
      const pair = comparedPair(both.a, both.b);
      sum.pair(pair);
      page.pair(pair, both.a.inputs);
      continue;
    }
    const [side, row] = 'a' in both ? (['a', both.a] as const) : (['b', both.b] as const);
    sum.only(side);
    page.only(side, row.key, comparedRow(row));
  }
  return { sums: sum.sums, page };
}

async function* rowsIn({ store, file }: Compared): AsyncGenerator<ShownRow> {
  for await (const row of rowsOf(store, file)) yield shownRow(row, file);
}

/** The columns of two sheets may be in another order. */
const inputsText = ({ inputs }: ShownRow): string =>
  JSON.stringify(Object.entries(inputs).toSorted(([a], [b]) => (a < b ? -1 : 1)));

type Paired<R> = { readonly a: R; readonly b: R } | { readonly a: R } | { readonly b: R };

/**
 * Rows with the same name are a pair; those that share a name are paired in order. Rows without a partner come last. Both batches are
 * read at the same time, so that memory holds only rows whose partner stands elsewhere: none if both have the same sheet.
 */
export async function* pairedRows<R>(
  a: AsyncIterable<R>,
  b: AsyncIterable<R>,
  nameOf: (row: R) => string,
): AsyncGenerator<Paired<R>> {
  const [inA, inB] = [a[Symbol.asyncIterator](), b[Symbol.asyncIterator]()];
  const [waitingA, waitingB] = [new Waiting<R>(), new Waiting<R>()];
  try {
    for (;;) {
      const [nextA, nextB] = [await inA.next(), await inB.next()];
      if (nextA.done === true && nextB.done === true) break;
      if (nextA.done !== true) {
        const other = waitingB.take(nameOf(nextA.value));
        if (other === undefined) waitingA.add(nameOf(nextA.value), nextA.value);
        else yield { a: nextA.value, b: other };
      }
      if (nextB.done !== true) {
        const other = waitingA.take(nameOf(nextB.value));
        if (other === undefined) waitingB.add(nameOf(nextB.value), nextB.value);
        else yield { a: other, b: nextB.value };
      }
    }
  } finally {
    await Promise.all([inA.return?.(), inB.return?.()]);
  }
  for (const row of waitingA.rest()) yield { a: row };
  for (const row of waitingB.rest()) yield { b: row };
}

class Waiting<R> {
  readonly #rows = new Map<string, R[]>();

  add(name: string, row: R): void {
    const rows = this.#rows.get(name);
    if (rows === undefined) this.#rows.set(name, [row]);
    else rows.push(row);
  }

  take(name: string): R | undefined {
    const rows = this.#rows.get(name);
    const row = rows?.shift();
    if (rows?.length === 0) this.#rows.delete(name);
    return row;
  }

  *rest(): Generator<R> {
    for (const rows of this.#rows.values()) yield* rows;
  }
}
