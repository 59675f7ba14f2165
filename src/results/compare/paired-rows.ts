// Pairs the rows of two batches. Both are read at the same time, so that memory holds only rows whose partner stands elsewhere: none
// if both batches have the same sheet.

export type Paired<R> = { readonly a: R; readonly b: R } | { readonly a: R } | { readonly b: R };

/** Rows with the same name are a pair; those that share a name are paired in order. Rows without a partner come last. */
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
