// Adds up the lines of a receipt. The writer and the check use the same sums, in the order of the lines.

import { NO_OUTCOMES, type Outcome } from '../batch/outcome.ts';
import type { Content, ContentOf } from './receipt-lines.ts';

type Use = { readonly gpu?: string; readonly gpu_seconds?: number; readonly cost_usd?: number };

export class ReceiptSums {
  #rows = 0;
  #runs = 0;
  #duplicates = 0;
  #late = 0;
  #unmeasured = 0;
  readonly #outcomes: Record<Outcome, number> = { ...NO_OUTCOMES };
  readonly #seconds = { rows: 0, cancelled: 0, duplicates: 0 };
  readonly #cost = { rows: 0, cancelled: 0, duplicates: 0 };

  add(line: Content): void {
    if (line.kind === 'row') this.#addRow(line);
    if (line.kind === 'duplicate') {
      this.#duplicates += 1;
      this.#addUse('duplicates', line);
    }
    if (line.kind === 'late') {
      this.#late += 1;
      this.#unmeasured += 1;
    }
  }

  total(): ContentOf<'total'> {
    const cost = rounded(this.#cost);
    const total = cost.rows + cost.cancelled + cost.duplicates;
    return {
      kind: 'total',
      rows: this.#rows,
      outcomes: this.#outcomes,
      runs: this.#runs,
      bought_twice: this.#duplicates,
      late_runs: this.#late,
      unmeasured_runs: this.#unmeasured,
      gpu_seconds: rounded(this.#seconds),
      cost_usd: rounded({ ...cost, total }),
    };
  }

  #addRow({ outcome, attempts }: ContentOf<'row'>): void {
    this.#rows += 1;
    this.#outcomes[outcome] += 1;
    for (const one of attempts) {
      if (one.run_id === undefined) continue;
      this.#runs += 1;
      this.#addUse(one.outcome === 'cancelled' ? 'cancelled' : 'rows', one);
    }
  }

  #addUse(share: 'rows' | 'cancelled' | 'duplicates', { gpu, gpu_seconds = 0, cost_usd = 0 }: Use): void {
    if (gpu === undefined) this.#unmeasured += 1;
    this.#seconds[share] += gpu_seconds;
    this.#cost[share] += cost_usd;
  }
}

/** To millionths, as in summary.json. */
const rounded = <T extends Readonly<Record<string, number>>>(sums: T): T =>
  Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Number(sum.toFixed(6))])) as T;
