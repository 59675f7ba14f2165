// Pairs the rows of two batches, adds up the comparison, and feeds the page.

import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { rowsOf, shownRow, type ShownRow } from '../batch-rows.ts';
import { SumUp, comparedPair, comparedRow, type ComparisonSums } from './compared-pair.ts';
import { ComparisonPage } from '../page/comparison-page.ts';
import type { PairedBy } from '../../options/choices.ts';

type ComparedBatch = { readonly store: Store; readonly file: BatchFile };

export type ComparedRows = { readonly sums: ComparisonSums; readonly page: ComparisonPage };

/** Keys are comparable only if both sheets have a key column. */
export const pairedByDefault = (a: BatchFile, b: BatchFile): PairedBy =>
  a.sheet.options.keyColumn === undefined || b.sheet.options.keyColumn === undefined ? 'inputs' : 'key';

export async function compareRows(a: ComparedBatch, b: ComparedBatch, by: PairedBy): Promise<ComparedRows> {
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

async function* rowsIn({ store, file }: ComparedBatch): AsyncGenerator<ShownRow> {
  for await (const row of rowsOf(store, file)) yield shownRow(row, file);
}

/** The two sheets may order their columns differently. */
const inputsText = ({ inputs }: ShownRow): string =>
  JSON.stringify(Object.entries(inputs).toSorted(([a], [b]) => (a < b ? -1 : 1)));

type Paired<R> = { readonly a: R; readonly b: R } | { readonly a: R } | { readonly b: R };

/**
 * Rows with the same name form a pair; rows that share a name are paired in order. Rows without a partner
 * come last. Both batches are read in parallel, so memory holds only rows whose partner is elsewhere: none
 * if both have the same sheet.
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
        const partner = waitingB.take(nameOf(nextA.value));
        if (partner === undefined) waitingA.add(nameOf(nextA.value), nextA.value);
        else yield { a: nextA.value, b: partner };
      }
      if (nextB.done !== true) {
        const partner = waitingA.take(nameOf(nextB.value));
        if (partner === undefined) waitingB.add(nameOf(nextB.value), nextB.value);
        else yield { a: partner, b: nextB.value };
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
