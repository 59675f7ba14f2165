// Pages of large rows: how many bytes a page may hold, and how many bytes of pages stay in memory.

import { describe, expect, it } from 'vitest';
import { PAGE_ROWS, pageName, rowLine } from '../../src/sheet/pages.ts';
import { queueName, cacheRows } from '../../src/sheet/placed-rows.ts';
import { layOut } from '../../src/sheet/sheet.ts';
import type { Store } from '../../src/store/store.ts';
import { errorsIn, freshStore, opened, PLAIN, refusedBy } from './laying.ts';

const MIB = 1024 * 1024;
const params = { options: PLAIN, inputTypes: undefined };

describe('a page', () => {
  it('has a maximum size: the first row above it is refused before its page is written', async () => {
    const store = freshStore();
    const rows = Array.from({ length: 12 }, (_, at) => `${at},${'x'.repeat(MIB / 5)}\n`);
    const source = { name: 'sheet.csv', open: opened(`n,prompt\n${rows.join('')}`) };
    const refused = await refusedBy(
      layOut({ ...params, source, store, errors: errorsIn(store), pageBytes: 2 * MIB }),
    );
    const [problem, ...moreProblems] = refused.problems;
    expect(moreProblems).toEqual([]);
    expect(problem).toMatchObject({ code: 'E108', exit: 5, place: { file: 'sheet.csv', line: 11, row: 10 } });
    expect(problem?.message).toBe(
      'rows 1 to 10 have more than 2 MiB of inputs, the maximum for rows 1 to 500',
    );
    expect(problem?.hint).toContain('by URL');
    expect(await store.exists(pageName(1))).toBe(false);
  });

  it('that is too large ends the reading, and earlier errors are reported too', async () => {
    const rows = Array.from({ length: 3 * PAGE_ROWS }, (_, at) => `row ${at},${at === 2 ? 'Z' : ''}\n`).join(
      '',
    );
    const source = { name: 'sheet.csv', open: opened(`prompt,gpu\n${rows}`) };
    const store = freshStore();
    const refused = await refusedBy(
      layOut({ ...params, source, store, errors: errorsIn(store), pageBytes: 20_000 }),
    );
    expect(refused.problems.map(({ code }) => code)).toEqual(['E201', 'E108']);
    expect(refused.problems[1]?.message).toMatch(
      /^rows 1 to \d+ have more than 20,000 bytes of inputs, the maximum for rows 1 to 500$/,
    );
    expect(refused.rows).toBeLessThan(PAGE_ROWS);
  });

  it('counts bytes, not characters', async () => {
    const laying = (word: string) => {
      const source = { name: 'sheet.csv', open: opened(`a\n${word}\n`) };
      const store = freshStore();
      return layOut({ ...params, source, store, errors: errorsIn(store), pageBytes: 200 });
    };
    expect(await laying('x'.repeat(100))).toMatchObject({ rows: 1 });
    expect((await refusedBy(laying('狐'.repeat(100)))).problems[0]?.code).toBe('E108');
  });
});

describe('the pages that stay in memory', () => {
  const pages = async (bytes: number): Promise<{ store: Store; reads: string[] }> => {
    const store = freshStore();
    const reads: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const row = (page - 1) * PAGE_ROWS + 1;
      await store.write(pageName(page), rowLine(row, `k${row}`, undefined, `{"a":"${'x'.repeat(bytes)}"}`));
    }
    const read = (name: string): Promise<string | undefined> => {
      reads.push(name);
      return store.read(name);
    };
    return { store: { ...store, read }, reads };
  };
  const SHEET = { rows: 4 * PAGE_ROWS, isQueued: false };
  const firstRows = [1, PAGE_ROWS + 1, 2 * PAGE_ROWS + 1, 3 * PAGE_ROWS + 1];

  it('are limited by their bytes', async () => {
    const { store, reads } = await pages(1_000);
    const readRows = cacheRows(32, 2_500);
    await readRows(store, SHEET, firstRows);
    await readRows(store, SHEET, firstRows.slice(2));
    expect(reads).toEqual([1, 2, 3, 4].map(pageName));
    await readRows(store, SHEET, [1]);
    expect(reads.slice(4)).toEqual([pageName(1)]);
  });

  it('include the one in use, even if it alone is too large', async () => {
    const { store, reads } = await pages(1_000);
    const readRows = cacheRows(32, 500);
    await readRows(store, SHEET, [1]);
    const rows = await readRows(store, SHEET, [1]);
    expect(rows.get(1)?.key).toBe('k1');
    expect(reads).toEqual([pageName(1)]);
  });

  it('of a batch in random order are those of all its rows, while their bytes allow it', async () => {
    const { store, reads } = await pages(10);
    const queue = firstRows.map((row) => `${JSON.stringify({ row })}\n`).join('');
    await store.write(queueName(0, 1), queue);
    const readRows = cacheRows(2, MIB);
    const sheet = { ...SHEET, isQueued: true };
    for (const place of [1, 2, 3, 4, 1, 3])
      expect((await readRows(store, sheet, [place])).get(place)?.row).toBe(firstRows[place - 1]);
    expect(reads).toEqual([queueName(0, 1), ...[1, 2, 3, 4].map(pageName)]);
  });

  it('show each row, and none after the last', async () => {
    const store = freshStore();
    const lines = [1, 2, 3].map((row) => rowLine(row, `k${row}`, undefined, '{}'));
    await store.write(pageName(1), lines.join(''));
    const placedRows = await cacheRows(2)(store, { rows: PAGE_ROWS, isQueued: false }, [3, 1, 4, 5]);
    expect([...placedRows].map(([place, { key }]) => [place, key])).toEqual([
      [3, 'k3'],
      [1, 'k1'],
    ]);
  });

  it('are limited by their number too', async () => {
    const { store, reads } = await pages(10);
    const readRows = cacheRows(2, MIB);
    await readRows(store, SHEET, firstRows);
    await readRows(store, SHEET, [1]);
    expect(reads).toEqual([1, 2, 3, 4, 1].map(pageName));
  });
});
