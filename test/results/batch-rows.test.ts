// The rows of a batch in a real folder, whose records are in parts in any order.

import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeEndedBatch, type EndedBatch } from '../../bench/ended-batch.ts';
import { recordsBefore, rowsOf } from '../../src/results/batch-rows.ts';
import { newestRecords } from '../../src/results/newest-parts.ts';
import { PARTS, partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { PAGE_ROWS, pageName, pageOf, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { cpuMs } from '../stage/cpu.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

let folder = '';
let store: Store;
beforeEach(() => {
  folder = freshFolder();
  store = folderStore(folder);
});

const fileOf = (rows: number): BatchFile =>
  ({ mark: '0123456789abcdef', sheet: { rows, pages: pageOf(rows), inputs: [] } }) as unknown as BatchFile;

async function writePages(file: BatchFile): Promise<void> {
  const { rows, pages } = file.sheet;
  for (let page = 1; page <= pages; page += 1) {
    const numbers = Array.from({ length: PAGE_ROWS }, (_, at) => (page - 1) * PAGE_ROWS + at + 1);
    const lines = numbers.filter((row) => row <= rows).map((row) => rowLine(row, `k${row}`, undefined, '{}'));
    await layoutOf(store, file).write(pageName(page), lines.join(''), 'cached');
  }
}

const recordOf = (row: number, reason: string): PartRecord => ({
  row,
  outcome: 'succeeded',
  reason,
  attempts: [],
  files: [],
});

const writePart = (name: string, records: readonly PartRecord[]): Promise<void> =>
  store.write(name, records.map((record) => `${JSON.stringify(record)}\n`).join(''), 'cached');

type Range = { readonly from?: number; readonly to?: number };

/** The reasons of the rows, in the order of the rows. */
async function reasonsOf(file: BatchFile, range: Range = {}, from: Store = store): Promise<unknown[]> {
  const reasons: unknown[] = [];
  for await (const { row, record, part } of rowsOf(from, file, range))
    reasons.push({ row: row.row, reason: record?.reason, part });
  return reasons;
}

describe('the rows of a batch', () => {
  const written = fc.record({
    rows: fc.integer({ min: 1, max: 3_500 }),
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
    stride: fc.constantFrom(1, 7_919, 104_729),
    partRows: fc.integer({ min: 40, max: 400 }),
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    to: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  it('each have the record of the newest part, whatever parts and passes their records are in', async () => {
    let batches = 0;
    await fc.assert(
      fc.asyncProperty(written, async ({ rows, shares, stride, partRows, from, to }) => {
        batches += 1;
        folder = join(folder, String(batches));
        store = folderStore(folder);
        const file = fileOf(rows);
        await writePages(file);
        const newest = new Map<number, readonly [string, string]>();
        for (const [pass, share] of shares.entries()) {
          const numbers = Array.from(
            { length: Math.ceil(rows * share) },
            (_, at) => ((at * stride) % rows) + 1,
          );
          for (let at = 0; at < numbers.length; at += partRows) {
            const name = partName(pass + 1, at / partRows + 1);
            const records = numbers
              .slice(at, at + partRows)
              .map((row) => recordOf(row, `${pass} ${at} ${row}`));
            await writePart(name, records);
            for (const { row, reason = '' } of records)
              newest.set(row, [reason, name.slice(PARTS.length + 1)]);
          }
        }
        const [first, last] = [1 + Math.floor(from * (rows - 1)), 1 + Math.floor(to * (rows - 1))];
        const range = { from: Math.min(first, last), to: Math.max(first, last) };
        const expected = Array.from({ length: range.to - range.from + 1 }, (_, at) => {
          const row = range.from + at;
          return { row, reason: newest.get(row)?.[0], part: newest.get(row)?.[1] };
        });
        expect(await reasonsOf(file, range)).toEqual(expected);
        const reasons: string[] = [];
        for await (const { reason = '' } of newestRecords(store, rows)) reasons.push(reason);
        expect(reasons.toSorted()).toEqual([...newest.values()].map(([reason]) => reason).toSorted());
        folder = join(folder, '..');
      }),
      { numRuns: 10 },
    );
  });

  it('have the last of two records in one part', async () => {
    await writePages(fileOf(2));
    await writePart(partName(1, 1), [recordOf(2, 'first'), recordOf(1, 'only'), recordOf(2, 'last')]);
    expect(await reasonsOf(fileOf(2))).toMatchObject([
      { row: 1, reason: 'only' },
      { row: 2, reason: 'last' },
    ]);
  });

  it('have the record of the millionth part rather than of the one before, and of pass 10,000', async () => {
    await writePages(fileOf(2));
    await writePart(partName(1, 999_999), [recordOf(1, 'earlier'), recordOf(2, 'earlier')]);
    await writePart(partName(1, 1_000_000), [recordOf(1, 'later')]);
    await writePart(partName(9_999, 1), [recordOf(2, 'earlier')]);
    await writePart(partName(10_000, 1), [recordOf(2, 'later')]);
    expect(await reasonsOf(fileOf(2))).toMatchObject([
      { row: 1, reason: 'later' },
      { row: 2, reason: 'later' },
    ]);
  });

  it('keep records of any length, with any characters', async () => {
    const rows = 2_500;
    const file = fileOf(rows);
    await writePages(file);
    const reasonOf = (row: number): string =>
      `狐\u2028 ${'é'.repeat(row % 50 === 0 ? 40_000 : row % 97)} ${row}`;
    const numbers = Array.from({ length: rows }, (_, at) => ((at * 7_919) % rows) + 1);
    for (let at = 0; at < rows; at += 100)
      await writePart(
        partName(1, at / 100 + 1),
        numbers.slice(at, at + 100).map((row) => recordOf(row, reasonOf(row))),
      );
    let last = 0;
    for await (const { row, record } of rowsOf(store, file)) {
      last += 1;
      expect([row.row, record?.reason]).toEqual([last, reasonOf(last)]);
    }
    expect(last).toBe(rows);
  });

  it('are read without the earlier parts if all of them were sent again', async () => {
    await writePages(fileOf(3));
    for (let part = 1; part <= 20; part += 1)
      await writePart(
        partName(1, part),
        [1, 2, 3].map((row) => recordOf(row, 'earlier')),
      );
    await writePart(partName(2, 1), [recordOf(3, 'later'), recordOf(1, 'later')]);
    await writePart(partName(2, 2), [recordOf(2, 'later')]);
    const reads: string[] = [];
    const noting: Store = {
      ...store,
      read: (name) => {
        if (name.startsWith(PARTS)) reads.push(name);
        return store.read(name);
      },
    };
    expect(await reasonsOf(fileOf(3), {}, noting)).toMatchObject([
      { row: 1, reason: 'later' },
      { row: 2, reason: 'later' },
      { row: 3, reason: 'later' },
    ]);
    expect(reads.slice(0, 2)).toEqual([partName(2, 2), partName(2, 1)]);
    // Few are read ahead.
    expect(reads.length).toBeLessThan(6);
  });

  it('that were sent again have the record of the part that their place names', async () => {
    await writePart(partName(1, 1), [recordOf(1, 'one'), recordOf(12, 'twelve'), recordOf(2, 'two')]);
    const before = '0001-000001.jsonl';
    const find = recordsBefore(store);
    const reasons = [];
    for (const row of [1, 12, 2, 3]) reasons.push((await find({ row, before }))?.reason);
    expect(reasons).toEqual(['one', 'twelve', 'two', undefined]);
    expect(await find({ row: 1, before: '' })).toBeUndefined();
    expect(await find({ row: 1 })).toBeUndefined();
  });
});

describe('the time that the rows of a batch take', () => {
  /** The processor's time for one walk over the rows of a batch. */
  async function walkMs(batch: EndedBatch): Promise<number> {
    const own = join(folder, batch.isShuffled ? 'shuffled' : 'in-order');
    const file = makeEndedBatch(own, batch);
    const began = cpuMs();
    let rows = 0;
    for await (const { record } of rowsOf(folderStore(own), file)) if (record !== undefined) rows += 1;
    expect(rows).toBe(batch.rows);
    return cpuMs() - began;
  }

  it('is at most three times as long if the rows ended in random order', async () => {
    const rows = 50_000;
    await walkMs({ rows: 5_000 });
    const inOrder = await walkMs({ rows });
    const shuffled = await walkMs({ rows, isShuffled: true });
    expect(shuffled / inOrder).toBeLessThan(3);
  });
});
