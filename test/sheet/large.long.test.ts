import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { layOut } from '../../src/sheet/sheet.ts';
import type { SheetOptions } from '../../src/sheet/sheet-source.ts';
import { errorsIn, freshStore, PLAIN } from './laying.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Rows a chunk; the heap is measured between chunks, after a collection, so only what is kept counts. */
const CHUNK = 4000;

async function heapKeptBy(rows: number, several: Partial<SheetOptions> = {}): Promise<number> {
  let most = 0;
  const open = (): Readable =>
    Readable.from(
      (function* () {
        yield Buffer.from('prompt,seed,steps,gpu\n');
        for (let at = 0; at < rows; at += CHUNK) {
          collect();
          most = Math.max(most, process.memoryUsage().heapUsed);
          const lines = Array.from(
            { length: CHUNK },
            (_, n) => `"a fox, number ${at + n}",${at + n},20,A10G\n`,
          );
          yield Buffer.from(lines.join(''));
        }
      })(),
    );
  const source = { name: 'large.csv', open };
  const store = freshStore();
  const laidOut = await layOut({
    source,
    options: { ...PLAIN, ...several },
    inputTypes: undefined,
    store,
    errors: errorsIn(store),
  });
  expect(laidOut).toMatchObject({ rows, pages: rows / 500, repeats: { count: 0 } });
  return most;
}

it('200,000 rows use no more heap than 20,000', async () => {
  await heapKeptBy(CHUNK);
  const few = await heapKeptBy(20_000);
  const many = await heapKeptBy(200_000);
  expect(many - few).toBeLessThan(8 * 1024 * 1024);
});

it('nor with a condition, a template and several runs of a row', async () => {
  const several: Partial<SheetOptions> = {
    where: 'steps = 20 and seed >= 0',
    set: { negative: 'no {prompt}' },
    repeat: { by: 2, seed: { column: 'seed', below: 2 ** 31 } },
    limit: 200_000,
  };
  const few = await heapKeptBy(20_000, { ...several, limit: 20_000 });
  const many = await heapKeptBy(200_000, several);
  expect(many - few).toBeLessThan(8 * 1024 * 1024);
});
