// The lines of a receipt, and the chain between them. A receipt names every run of a batch with its GPU seconds and its cost.
// Each line ends with a sha256 of the line before it and of its own content, so a change of any line is found.

import { hash } from 'node:crypto';
import { z } from 'zod';
import { OUTCOMES } from '../batch/outcome.ts';

const count = z.number().int().nonnegative();
/** A service with a wrong clock may report negative seconds. */
const amount = z.number();
const outcomes = z.record(z.enum(OUTCOMES), count);

/** Without a GPU, the cost of a run is not known and counts as 0. */
const use = {
  gpu: z.string().exactOptional(),
  gpu_seconds: amount.exactOptional(),
  usd_per_second: amount.exactOptional(),
  cost_usd: amount.exactOptional(),
};

const attempt = z.strictObject({
  attempt: count,
  outcome: z.enum([...OUTCOMES, 'absent']),
  run_id: z.string().exactOptional(),
  ...use,
});

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The facts of the batch, and what its summary.json claims. */
const batch = z.strictObject({
  kind: z.literal('batch'),
  /** The version of the format. */
  receipt: z.literal(1),
  batch: z.string(),
  mark: z.string(),
  deployment: z.strictObject({ id: z.string(), name: z.string().exactOptional() }),
  service: z.strictObject({ base: z.string(), api: z.string(), rehearsal: z.boolean() }),
  sheet_sha256: z.string(),
  started_at: z.string(),
  ended_at: z.string(),
  rows: count,
  outcomes,
  runs: count,
  bought_twice: count,
  cost_usd: amount,
  total_cost_usd: amount,
  lists: z.string(),
  unseen_runs_at_most: count,
  sha256,
});

const row = z.strictObject({
  kind: z.literal('row'),
  row: count,
  key: z.string(),
  outcome: z.enum(OUTCOMES),
  attempts: z.array(attempt),
  sha256,
});

const run = { row: count, attempt: count, run_id: z.string() };

const duplicate = z.strictObject({
  kind: z.literal('duplicate'),
  ...run,
  status: z.string(),
  ...use,
  sha256,
});

/** A run that ended after the batch; nothing is known about what it used. */
const late = z.strictObject({ kind: z.literal('late'), ...run, outcome: z.string(), sha256 });

/** `cancelled`: cancelled runs of rows. `rows`: all other runs of rows. */
const shares = { rows: amount, cancelled: amount, duplicates: amount };

const total = z.strictObject({
  kind: z.literal('total'),
  rows: count,
  outcomes,
  /** Runs that rows name. */
  runs: count,
  bought_twice: count,
  late_runs: count,
  /** Runs whose GPU the service did not name. */
  unmeasured_runs: count,
  gpu_seconds: z.strictObject(shares),
  cost_usd: z.strictObject({ ...shares, total: amount }),
  sha256,
});

export const lineSchema = z.discriminatedUnion('kind', [batch, row, duplicate, late, total]);

export type ReceiptLine = z.infer<typeof lineSchema>;
export type LineOf<K extends ReceiptLine['kind']> = Extract<ReceiptLine, { kind: K }>;

/** A line without its hash. */
export type ContentOf<K extends ReceiptLine['kind']> = Omit<LineOf<K>, 'sha256'>;
export type Content = { [K in ReceiptLine['kind']]: ContentOf<K> }[ReceiptLine['kind']];

/** How every receipt begins. */
export const RECEIPT_START = '{"kind":"batch","receipt":1,';

const SEAL_START = ',"sha256":"';
const SEAL_CHARS = SEAL_START.length + 64 + '"}'.length;

/** Knows the line before. */
export class Chain {
  /** The line before, as text; empty before the first line. */
  previous = '';

  /** The line with its hash. */
  seal(content: Content): string {
    const own = JSON.stringify(content).slice(0, -1);
    this.previous = `${own}${SEAL_START}${this.#hashOf(own)}"}`;
    return this.previous;
  }

  /** Whether this is the next line: as it was sealed, after the line that it was sealed after. */
  follows(line: string): boolean {
    const own = line.slice(0, -SEAL_CHARS);
    const isNext = line === `${own}${SEAL_START}${this.#hashOf(own)}"}`;
    this.previous = line;
    return isNext;
  }

  /** The hash of the line before. */
  get hash(): string {
    return this.previous.slice(-66, -2);
  }

  #hashOf(own: string): string {
    return hash('sha256', `${this.previous}\n${own}`);
  }
}
