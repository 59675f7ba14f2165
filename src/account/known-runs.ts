// The runs that a batch's rows name as theirs, packed: eight bytes a run, so that a million rows stay small.

import { rowsOf } from '../results/rows.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

/** Thirteen hex digits of an id are an exact number; two runs of one batch share them once in ten thousand batches. */
const DIGITS = 13;

export class KnownRuns {
  readonly #sorted: Float64Array;

  private constructor(numbers: Float64Array) {
    this.#sorted = numbers.sort();
  }

  static async of(store: Store, file: Pick<BatchFile, 'sheet'>): Promise<KnownRuns> {
    let numbers = new Float64Array(Math.max(16, file.sheet.rows));
    let count = 0;
    for await (const { record } of rowsOf(store, file)) {
      for (const { run_id } of record?.attempts ?? []) {
        if (run_id === undefined) continue;
        if (count === numbers.length) numbers = grown(numbers);
        numbers[count] = numberOf(run_id);
        count += 1;
      }
    }
    return new KnownRuns(numbers.subarray(0, count));
  }

  get size(): number {
    return this.#sorted.length;
  }

  has(runId: string): boolean {
    const wanted = numberOf(runId);
    let low = 0;
    for (let high = this.#sorted.length; low < high;) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return this.#sorted[low] === wanted;
  }
}

const numberOf = (runId: string): number => Number.parseInt(runId.replaceAll('-', '').slice(0, DIGITS), 16);

function grown(numbers: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
