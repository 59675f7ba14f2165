import { beforeEach, describe, expect, it } from 'vitest';
import { isRunsheetError } from '../../src/errors/error.ts';
import { EndedRows, type RowResult } from '../../src/library/handle/ended-rows.ts';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import { partName } from '../../src/results/parts.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { pageName } from '../../src/sheet/pages.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const ROWS = 12;
const SEED = '18446744073709551615';

describe('rows in the order in which they ended', () => {
  let batchFolder: FoundBatch;
  beforeEach(async () => {
    const folder = freshFolder();
    const store = folderStore(folder);
    const file = { mark: '00112233445566aa', sheet: { rows: ROWS, inputs: [] } } as unknown as BatchFile;
    batchFolder = { batch: 'one', folder, store, file };
    const lines = Array.from(
      { length: ROWS },
      (_, at) => `{"row":${at + 1},"key":"k${at + 1}","inputs":{"seed":${SEED}}}\n`,
    );
    await store.write(`layout/${file.mark}/${pageName(1)}`, lines.join(''));
  });

  const write = (pass: number, part: number, ...rows: readonly number[]): Promise<void> =>
    batchFolder.store.write(
      partName(pass, part),
      rows.map((row) => `{"row":${row},"outcome":"succeeded","attempts":[],"files":[]}\n`).join(''),
    );
  const numbers = async (rows: EndedRows, hasEnded = false): Promise<readonly number[]> =>
    (await Array.fromAsync(rows.read(hasEnded))).map(({ row }) => row);

  it('stop before a part that is still being written, and continue when it exists', async () => {
    const rows = new EndedRows(batchFolder, undefined);
    expect(await numbers(rows)).toEqual([]);
    await write(1, 2, 7);
    expect(await numbers(rows)).toEqual([]);
    await write(1, 1, 3, 1);
    expect(await numbers(rows)).toEqual([3, 1, 7]);
    expect(await numbers(rows)).toEqual([]);
    // All rows of this part are collected later.
    await write(1, 3);
    await write(1, 4, 2);
    expect(await numbers(rows)).toEqual([2]);
  });

  it('continue after the row of a cursor, in another process', async () => {
    await write(1, 1, 3, 1, 5);
    await write(1, 2, 7);
    const seen: RowResult[] = await Array.fromAsync(new EndedRows(batchFolder, undefined).read(false));
    for (const [at, { cursor }] of seen.entries())
      expect(await numbers(new EndedRows(batchFolder, cursor))).toEqual([3, 1, 5, 7].slice(at + 1));
    // The reader may also stop in the middle of a part, and go on.
    const rows = new EndedRows(batchFolder, undefined);
    for await (const { row } of rows.read(false)) if (row === 1) break;
    expect(await numbers(rows)).toEqual([5, 7]);
  });

  it('begin with the rows of earlier batches, whose parts are complete', async () => {
    await write(0, 1, 9);
    await write(0, 2, 10);
    await write(1, 2, 7);
    const rows = new EndedRows(batchFolder, undefined);
    expect(await numbers(rows)).toEqual([9, 10]);
    await write(1, 1, 3);
    expect(await numbers(rows)).toEqual([3, 7]);
  });

  it('go on with a batch that was rebuilt, whose parts begin again', async () => {
    await write(1, 1, 3);
    await write(1, 3, 5);
    const rows = new EndedRows(batchFolder, undefined);
    expect(await numbers(rows)).toEqual([3]);
    await write(2, 2, 7);
    expect(await numbers(rows)).toEqual([]);
    await write(2, 1, 4);
    expect(await numbers(rows)).toEqual([5, 4, 7]);
  });

  it('are all rows that exist, when the batch has ended', async () => {
    await write(1, 2, 7);
    expect(await numbers(new EndedRows(batchFolder, undefined), true)).toEqual([7]);
  });

  it('keep all digits, with bigints', async () => {
    await write(1, 1, 3);
    const [row] = await Array.fromAsync(new EndedRows(batchFolder, undefined).read(false));
    expect(row).toMatchObject({ key: 'k3', inputs: { seed: BigInt(SEED) } });
  });

  it.each(['', '1-2', '1-2:x', 'results'])('refuse the cursor %j', (cursor) => {
    const refusal = (): unknown => {
      try {
        return new EndedRows(batchFolder, cursor);
      } catch (error) {
        return error;
      }
    };
    expect(isRunsheetError(refusal(), 'E602')).toBe(true);
  });
});
