// Adds results to a batch, as if it had ended or were still running.

import { createHash } from 'node:crypto';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';

type Results = {
  /** Rows with an outcome (default: all). */
  readonly rows?: readonly number[];
  readonly outcome?: PartRecord['outcome'];
  readonly isOver?: boolean;
  readonly more?: Partial<PartRecord>;
};

/** Writes a part with a file for each row. */
export async function addResults(
  { file, store, batch }: CreatedBatch,
  { outcome = 'succeeded', isOver = true, more = {}, ...given }: Results = {},
): Promise<void> {
  const rows = given.rows ?? Array.from({ length: file.sheet.rows }, (_, at) => at + 1);
  const records = await Promise.all(
    rows.map(async (row): Promise<PartRecord> => {
      const path = `outputs/of-${row}/1.png`;
      const bytes = Buffer.from(`${batch} ${row}`);
      await store.write(path, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const attempts = [{ attempt: 1, outcome, run_id: `${batch}-${row}` }] as const;
      const files = [{ path, bytes: bytes.length, sha256, name: 'a.bin', node: '9' }];
      return { row, outcome, attempts, files, ...more };
    }),
  );
  await store.write(partName(1, 1), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  if (isOver) await store.write(SUMMARY_FILE, summaryOfPass(1, outcome === 'succeeded' ? rows.length : 0));
}
