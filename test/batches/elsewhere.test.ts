// Batches in remote stores: no links, no renames, no hidden files. A folder without a local path stands in for such a store.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { copyReused, placeReused } from '../../src/batches/reuse/reuse-rows.ts';
import { hasOnlyLayouts } from '../../src/batches/stale-folders.ts';
import { layoutOf } from '../../src/store/batch-file.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { recordsIn } from './rows-of-batch.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});

/** Fails write number `failing` and every later one, as if the process had been killed there. */
function elsewhere(store: Store, failing = Number.POSITIVE_INFINITY): Store {
  const { localPath: _, ...storeWithoutPath } = store;
  let writes = 0;
  const counted = async (): Promise<void> => {
    writes += 1;
    if (writes >= failing) throw new Error('killed');
  };
  return {
    ...storeWithoutPath,
    write: async (...args) => counted().then(() => store.write(...args)),
    create: async (...args) => counted().then(() => store.create(...args)),
    update: async (...args) => counted().then(() => store.update(...args)),
    draft: async (...args) => counted().then(() => store.draft(...args)),
    clear: async (folder) => counted().then(() => store.clear(folder)),
  };
}

const rows = Array.from({ length: 105 }, (_, at) => `prompt ${at + 1}`);

/** A batch that reuses the results of another batch, before it starts. */
async function reusing(): Promise<CreatedBatch> {
  place.write('first.csv', `prompt\n${rows.join('\n')}\n`);
  place.write('second.csv', `prompt\n${rows.join('\n')}\nanother\n`);
  await addResults(await place.create('first.csv'));
  return place.create('second.csv', { decide: async () => 'reuse' });
}

/** The number of rows that have their file, or -1 if the layout still holds reused results. */
async function placedIn(made: CreatedBatch): Promise<number> {
  const records = (await recordsIn(made)).filter((record) => record !== undefined);
  const isOwn = ({ row, files }: (typeof records)[number]) =>
    readFileSync(join(made.folder, files[0]?.path ?? ''), 'utf8').endsWith(` ${row}`);
  if (existsSync(join(layoutOf(made.store, made.file).location, 'reused'))) return -1;
  return records.filter(isOwn).length;
}

const isReusedPart = (name: string): boolean => /\/reused\/parts\/.+\.jsonl$/.test(name);

/** Lets another command finish all its work before this one reads, or writes, its first part. */
function slowed(late: 'reads' | 'writes', store: Store, other: () => Promise<void>): Store {
  let done: Promise<void> | undefined;
  const after = async <T>(isPart: boolean, work: () => Promise<T>): Promise<T> => {
    if (isPart) await (done ??= other());
    return work();
  };
  const isPart = (name: string): boolean => late === 'writes' && name.startsWith('parts/');
  return {
    ...store,
    read: async (name) => after(late === 'reads' && isReusedPart(name), () => store.read(name)),
    write: async (...args) => after(isPart(args[0]), () => store.write(...args)),
    create: async (...args) => after(isPart(args[0]), () => store.create(...args)),
  };
}

/** The inodes in `folder`, which change when a file is replaced. */
const filesIn = (folder: string): readonly number[] =>
  readdirSync(folder)
    .toSorted()
    .map((name) => statSync(join(folder, name)).ino);

describe('results of reused rows', () => {
  it('are copied to where results are read, and a command that was killed there is repeated', async () => {
    let isWhole = false;
    for (let failing = 1; !isWhole; failing += 30) {
      place = new Place();
      const made = await reusing();
      const killed = placeReused({ ...made, store: elsewhere(made.store, failing) });
      isWhole = await killed.then(
        () => true,
        () => false,
      );
      await placeReused({ ...made, store: elsewhere(made.store) });
      expect([failing, await placedIn(made)]).toEqual([failing, rows.length]);
    }
  });

  it('are placed once by two commands at the same time', async () => {
    const made = await reusing();
    const both = [1, 2].map(() => placeReused({ ...made, store: elsewhere(made.store) }));
    await Promise.all(both);
    expect(await placedIn(made)).toBe(rows.length);
  });

  it.each(['reads', 'writes'] as const)(
    'are placed by the faster of two commands, also if the slower one %s after it',
    async (late) => {
      const made = await reusing();
      const parts = join(made.folder, 'parts');
      let placed: readonly number[] = [];
      const placeFirst = async (): Promise<void> => {
        await placeReused({ ...made, store: elsewhere(made.store) });
        placed = filesIn(parts);
      };
      await placeReused({ ...made, store: slowed(late, elsewhere(made.store), placeFirst) });
      expect([await placedIn(made), filesIn(parts)]).toEqual([rows.length, placed]);
    },
  );

  it('are not lost without a word if their records are gone before they were placed', async () => {
    const made = await reusing();
    const store = elsewhere(made.store);
    const read: Store['read'] = async (name) => (isReusedPart(name) ? undefined : store.read(name));
    await expect(placeReused({ ...made, store: { ...store, read } })).rejects.toThrow(
      /reused\/parts\/0000-\d+\.jsonl is gone before it was copied/,
    );
    expect(await store.list('parts')).toEqual([]);
  });

  it('are not taken from a batch that was removed meanwhile', async () => {
    const layout = openStore(join(place.folder, 'layout'));
    const copy = { batch: 'gone', path: 'outputs/a.png', to: 'reused/outputs/a.png' };
    await layout.write('reused/copies.jsonl', `${JSON.stringify(copy)}\n`);
    await expect(copyReused(layout, place.out)).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringContaining('was removed while'),
    });
  });

  it.each<[string, object | string]>([
    ['a folder of this machine', { batch: '@folder/home', path: 'outputs/key.pem' }],
    ['a folder above the batches', { batch: '..', path: 'outputs/key.pem' }],
    ['a path to a folder', { batch: '../home', path: 'outputs/key.pem' }],
    ['a file above its batch', { batch: 'one', path: 'outputs/../../../home/outputs/key.pem' }],
    ['another file of a batch', { batch: 'one', path: 'batch.json' }],
    ['another place for the copy', { batch: 'one', path: 'outputs/a.png', to: 'reused/parts/1.jsonl' }],
    ['a place above the copies', { batch: 'one', path: 'outputs/a.png', to: 'reused/outputs/../../x' }],
    ['no place', { batch: 'one', path: 7 }],
    ['no JSON', 'outputs/a.png'],
  ])('are not copied if the list in the bucket names %s', async (_, named) => {
    for (const name of ['home/outputs/key.pem', 'batches/one/outputs/a.png', 'batches/one/batch.json'])
      place.write(name, 'a secret of this machine');
    const layout = openStore(join(place.out, 'two'));
    const line = JSON.stringify({ to: 'reused/outputs/key.pem', ...(named as object) });
    const text = typeof named === 'string' ? named : line.replace('@folder', place.folder);
    await layout.write('reused/copies.jsonl', `${text}\n`);
    await expect(copyReused(layout, place.out)).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringContaining(
        'copies.jsonl names a file that is not an output of a batch in this place',
      ),
    });
    expect(readdirSync(layout.location, { recursive: true })).toEqual(['reused', 'reused/copies.jsonl']);
  });
});

describe('what a killed command leaves', () => {
  it('does not take a name, but any other file does', async () => {
    const store = elsewhere(openStore(join(place.folder, 'batch')));
    expect(await hasOnlyLayouts(store)).toBe(true);
    await store.write('layout/00112233445566aa/sheet.csv', 'x');
    expect(await hasOnlyLayouts(store)).toBe(true);
    await store.write('layout/mine.txt', 'x');
    expect(await hasOnlyLayouts(store)).toBe(false);
    const otherStore = elsewhere(openStore(join(place.folder, 'other')));
    await otherStore.write('parts/0001-00001.jsonl', 'x');
    expect(await hasOnlyLayouts(otherStore)).toBe(false);
  });
});
