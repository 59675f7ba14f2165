// The receipt of a batch in a real folder, written and checked.

import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkReceipt, type CheckedReceipt } from '../../src/audit/check-receipt.ts';
import { Chain, type Content } from '../../src/audit/receipt-lines.ts';
import { writeReceipt } from '../../src/audit/receipt.ts';
import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { progress } from '../../src/batch/progress.ts';
import { begin } from '../../src/batch/state.ts';
import { WRITES } from '../../src/batch/version.ts';
import { openDuplicates } from '../../src/results/duplicates.ts';
import { keepLateRun } from '../../src/results/late-runs.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { summaryOf, writeSummary, type Summary } from '../../src/results/summary.ts';
import { tallyRows } from '../../src/results/tally-rows.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { linesOf } from '../../src/store/lines.ts';
import type { Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { FILE as LISTED, idOf } from './lists.ts';

const PRICE = 0.1;
const FILE = {
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

describe('a receipt', () => {
  let folder = '';
  let store: Store;
  let summary: Summary;
  const path = (): string => join(folder, 'receipt.jsonl');
  const text = (): string => readFileSync(path(), 'utf8');

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-receipt-'));
    store = folderStore(folder);
    const lines = RECORDS.map(({ row }) => rowLine(row, `k${row}`, undefined, '{}'));
    await layoutOf(store, FILE).write(pageName(1), lines.join(''));
    await store.write(
      partName(1, 1),
      RECORDS.toReversed()
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    );
    const draft = await openDuplicates(store);
    await draft.add(DUPLICATE);
    await draft.commit();
    const last = {
      ...progress(begin(paramsOf({ rows: 4 }), WRITES, 1_000)),
      ledger: { ...NO_LEDGER, sent: 6, accepted: 5, rejected: 1 },
      tally: tallyRows(RECORDS),
    };
    const duplicates = { runs: 1, gpu_seconds: 2, cost_usd: 0.2, first: [DUPLICATE] };
    const reading = { lists: 'complete', duplicates } as const;
    summary = summaryOf(FILE, last, { startedAt: 1_000, endedAt: 2_000, reading, isEvidenceLost: false });
    await writeSummary(store, summary);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = () => writeReceipt({ store, file: FILE, summary }, store, 'receipt.jsonl');
  const check = (): Promise<CheckedReceipt> =>
    checkReceipt('receipt.jsonl', linesOf(createReadStream(path())));
  const parsed = (): Content[] =>
    text()
      .trim()
      .split('\n')
      .map((line) => {
        const { sha256: _, ...content } = JSON.parse(line) as Content & { readonly sha256: string };
        return content;
      });
  /** Somebody who knows the format writes other lines. */
  const forge = (lines: readonly Content[]): void => {
    const chain = new Chain();
    writeFileSync(path(), lines.map((line) => `${chain.seal(line)}\n`).join(''));
  };

  it('names each run of each row in the order of the sheet, then duplicates, late runs and sums', async () => {
    const late = { row: 2, attempt: 1, runId: 'bbbb', outcome: 'succeeded' } as const;
    expect(await keepLateRun(store, late)).toBe(true);
    const { lines, sha256 } = await write();
    expect(lines).toBe(8);
    expect(parsed()).toMatchObject([
      { kind: 'batch', batch: 'b', mark: FILE.mark, rows: 4, runs: 5, bought_twice: 1 },
      {
        kind: 'row',
        row: 1,
        key: 'k1',
        outcome: 'succeeded',
        attempts: [
          { run_id: idOf(1), gpu: 'L4', gpu_seconds: 0.3, usd_per_second: 0.1, cost_usd: 0.03 },
          { run_id: idOf(1, 2), gpu: 'L4', gpu_seconds: 0.7, usd_per_second: 0.1, cost_usd: 0.07 },
        ],
      },
      { kind: 'row', row: 2, outcome: 'refused', attempts: [{ attempt: 1, outcome: 'refused' }] },
      {
        kind: 'row',
        row: 3,
        attempts: [
          { outcome: 'cancelled', run_id: idOf(3), cost_usd: 0.02 },
          { run_id: idOf(3, 2), gpu: 'L4', gpu_seconds: 0, cost_usd: 0 },
        ],
      },
      { kind: 'row', row: 4, attempts: [{ attempt: 1, outcome: 'succeeded', run_id: idOf(4) }] },
      { kind: 'duplicate', row: 2, run_id: 'aaaa', gpu_seconds: 2, usd_per_second: 0.1, cost_usd: 0.2 },
      { kind: 'late', row: 2, run_id: 'bbbb', outcome: 'succeeded' },
      {
        kind: 'total',
        rows: 4,
        runs: 5,
        bought_twice: 1,
        late_runs: 1,
        unmeasured_runs: 2,
        gpu_seconds: { rows: 1, cancelled: 0.2, duplicates: 2 },
        cost_usd: { rows: 0.1, cancelled: 0.02, duplicates: 0.2, total: 0.32 },
      },
    ]);
    expect(await check()).toMatchObject({ lines: 8, sha256 });
  });

  it('has the sums of summary.json', async () => {
    await write();
    const { total } = await check();
    expect(total.cost_usd.rows + total.cost_usd.cancelled).toBeCloseTo(summary.cost_usd, 6);
    expect(total.cost_usd).toMatchObject({
      duplicates: summary.duplicates.cost_usd,
      total: summary.total_cost_usd,
    });
    expect(total).toMatchObject({ outcomes: summary.outcomes, bought_twice: summary.duplicates.runs });
    const seconds = Object.values(summary.gpus).reduce((sum, gpu) => sum + gpu.seconds, 0);
    expect(total.gpu_seconds.rows + total.gpu_seconds.cancelled).toBeCloseTo(seconds, 6);
  });

  it('is the same each time it is written', async () => {
    const first = await write();
    const before = text();
    expect(await write()).toEqual(first);
    expect(text()).toBe(before);
  });

  it('can be checked with the program of the page, which is not ours', async () => {
    await write();
    const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    const [program = ''] = /^python3 -c '[^]*?' receipt.jsonl$/m.exec(page) ?? [];
    const run = () => spawnSync('sh', ['-c', program], { cwd: folder, encoding: 'utf8' });
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(path(), text().replace('"row":3', '"row":4'));
    expect(run()).toMatchObject({ status: 1, stderr: 'line 4 is wrong\n' });
  });

  it('does not hold with any other digit, and names the line', async () => {
    await write();
    const lines = text().trim().split('\n');
    for (const [at, line] of lines.entries())
      for (const { index } of line.matchAll(/\d/g)) {
        const digit = (Number(line[index]) + 1) % 10;
        const changed = lines.with(at, `${line.slice(0, index)}${digit}${line.slice(index + 1)}`);
        writeFileSync(path(), `${changed.join('\n')}\n`);
        await expect(check()).rejects.toMatchObject({ code: 'E520', place: { line: at + 1 } });
      }
  });

  it.each<readonly [string, number, (lines: readonly string[]) => readonly string[]]>([
    ['a line less', 3, (lines) => lines.toSpliced(2, 1)],
    ['a line twice', 4, (lines) => lines.toSpliced(2, 0, lines[2] ?? '')],
    ['an empty line', 3, (lines) => lines.toSpliced(2, 0, '')],
    ['two lines in another order', 2, ([head = '', a = '', b = '', ...rest]) => [head, b, a, ...rest]],
    ['no first line', 1, (lines) => lines.slice(1)],
    ['no last line', 7, (lines) => lines.slice(0, -1)],
    ['nothing', 1, () => []],
    ['other line ends', 1, (lines) => lines.map((line) => `${line}\r`)],
    ['lines of another file', 1, () => ['row,key', '1,k1']],
  ])('does not hold with %s', async (_, line, change) => {
    await write();
    const lines = change(text().trim().split('\n'));
    writeFileSync(path(), lines.map((one) => `${one}\n`).join(''));
    await expect(check()).rejects.toMatchObject({ code: 'E520', place: { line } });
  });

  it.each<readonly [string, number, RegExp, (lines: readonly Content[]) => readonly unknown[]]>([
    [
      'a row without its runs',
      7,
      /other sums than its lines/,
      (lines) => lines.with(1, { ...lines[1], attempts: [] } as Content),
    ],
    [
      'a cost that does not follow from its seconds',
      6,
      /names a cost of \$0\.1, but 2 s at \$0\.1 cost \$0\.2/,
      (lines) => lines.with(5, { ...lines[5], cost_usd: 0.1 } as Content),
    ],
    [
      'a run of another row',
      6,
      /names the run 0.*, which an earlier line names/,
      (lines) => lines.with(5, { ...lines[5], run_id: idOf(3) } as Content),
    ],
    ['a row less', 3, /is row 3, but row 2 is next/, (lines) => lines.toSpliced(2, 1)],
    ['no duplicate', 6, /other sums than its lines/, (lines) => lines.toSpliced(5, 1)],
    [
      'a first line that claims less',
      7,
      /other sums than the first line/,
      (lines) => lines.with(0, { ...lines[0], bought_twice: 0 } as Content),
    ],
    [
      'a row after the duplicates',
      6,
      /is a row after a duplicate/,
      (lines) => [...lines.slice(0, 4), lines[5], lines[4], lines[6]],
    ],
    ['a line after the sums', 8, /follows the sums/, (lines) => [...lines, lines[5]]],
    ['two first lines', 2, /names the batch again/, (lines) => [lines[0], ...lines]],
    [
      'an unknown member',
      2,
      /is not a line of a receipt/,
      (lines) => lines.with(1, { ...lines[1], paid: true } as unknown as Content),
    ],
    [
      'members of other types',
      2,
      /is not a line of a receipt/,
      (lines) => lines.with(1, { ...lines[1], attempts: null } as unknown as Content),
    ],
  ])('does not hold with %s, although its hashes are right', async (_, line, reason, change) => {
    await write();
    forge(change(parsed()) as readonly Content[]);
    await expect(check()).rejects.toMatchObject({
      code: 'E520',
      message: expect.stringMatching(reason) as string,
      place: { line },
    });
  });
});
