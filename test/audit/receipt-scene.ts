// An ended batch in a real folder, whose receipt is written and checked.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { checkReceipt, type CheckedReceipt } from '../../src/audit/check-receipt.ts';
import { Chain, type Content } from '../../src/audit/receipt-lines.ts';
import { writeReceipt, type WrittenReceipt } from '../../src/audit/receipt.ts';
import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { begin } from '../../src/batch/state/begin.ts';
import { WRITES } from '../../src/batch/version.ts';
import { openDuplicates } from '../../src/results/duplicates.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { summaryOf, writeSummary, type Summary } from '../../src/results/summary.ts';
import { tallyChange } from '../../src/results/tally-rows.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { linesOf } from '../../src/store/lines.ts';
import type { Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { FILE as LISTED, idOf } from './lists.ts';

const PRICE = 0.1;
export const FILE = {
  ...LISTED,
  sheet: { ...LISTED.sheet, rows: 4, sha256: 'ab' },
  service: { ...LISTED.service, base: 'local', api: 'v2', rehearsal: true, prices: { L4: PRICE } },
} as BatchFile;

const usage = (gpuSeconds: number) => ({
  gpu_used: 'L4',
  cold_start_seconds: 0.1,
  run_seconds: gpuSeconds - 0.1,
  cost_usd: PRICE * (0.1 + (gpuSeconds - 0.1)),
});

/** A retried row, a refused one, a cancelled one, and one whose run the service no longer has. */
const RECORDS: readonly PartRecord[] = [
  {
    row: 1,
    outcome: 'succeeded',
    attempts: [
      { attempt: 1, outcome: 'failed', run_id: idOf(1), ...usage(0.3) },
      { attempt: 2, outcome: 'succeeded', run_id: idOf(1, 2), ...usage(0.7) },
    ],
    files: [],
  },
  { row: 2, outcome: 'refused', attempts: [{ attempt: 1, outcome: 'refused' }], files: [] },
  {
    row: 3,
    outcome: 'cancelled',
    attempts: [
      { attempt: 1, outcome: 'cancelled', run_id: idOf(3), ...usage(0.2) },
      // Cancelled before it started.
      { attempt: 2, outcome: 'cancelled', run_id: idOf(3, 2), gpu_used: 'L4', cost_usd: 0 },
    ],
    files: [],
  },
  {
    row: 4,
    outcome: 'succeeded',
    attempts: [{ attempt: 1, outcome: 'succeeded', run_id: idOf(4), cost_usd: 0 }],
    files: [],
  },
];
const DUPLICATE = {
  row: 2,
  attempt: 1,
  run_id: 'aaaa',
  // A line end for readers that are not of JSON.
  status: 'suc\u2028cess',
  gpu: 'L4',
  gpu_seconds: 2,
  cost_usd: 0.2,
};

export class Scene implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'runsheet-receipt-'));
  readonly store: Store = folderStore(this.folder);
  readonly path = join(this.folder, 'receipt.jsonl');
  readonly summary: Summary = summaryOfScene();

  /** The batch has ended. */
  async end(): Promise<void> {
    const lines = RECORDS.map(({ row }) => rowLine(row, `k${row}`, undefined, '{}'));
    await layoutOf(this.store, FILE).write(pageName(1), lines.join(''));
    const records = RECORDS.toReversed().map((record) => `${JSON.stringify(record)}\n`);
    await this.store.write(partName(1, 1), records.join(''));
    const draft = await openDuplicates(this.store);
    await draft.add(DUPLICATE);
    await draft.commit();
    await writeSummary(this.store, this.summary);
  }

  write(): Promise<WrittenReceipt> {
    return writeReceipt(
      { store: this.store, file: FILE, summary: this.summary },
      this.store,
      'receipt.jsonl',
    );
  }

  check(): Promise<CheckedReceipt> {
    return checkReceipt('receipt.jsonl', linesOf(folderStore(dirname(this.path)), basename(this.path)));
  }

  text(): string {
    return readFileSync(this.path, 'utf8');
  }

  /** The lines without their hashes. */
  contents(): readonly Content[] {
    const lines = this.text().trim().split('\n');
    return lines.map((line) => {
      const { sha256: _, ...content } = JSON.parse(line) as Content & { readonly sha256: string };
      return content;
    });
  }

  /** A person who knows the format writes other lines. */
  forge(lines: readonly Content[]): void {
    const chain = new Chain();
    writeFileSync(this.path, lines.map((line) => `${chain.seal(line)}\n`).join(''));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

function summaryOfScene(): Summary {
  const last = {
    ...progress(begin(paramsOf({ rows: 4 }), WRITES, 1_000)),
    ledger: { ...NO_LEDGER, sent: 6, accepted: 5, rejected: 1 },
    tally: tallyChange(RECORDS),
  };
  const duplicates = { runs: 1, gpu_seconds: 2, cost_usd: 0.2, first: [DUPLICATE] };
  const reading = { lists: 'complete', duplicates } as const;
  return summaryOf(FILE, last, {
    startedAt: 1_000,
    endedAt: 2_000,
    reading,
    isEvidenceLost: false,
    throughPass: 1,
  });
}
