// The name of a batch, and folders that a name never stands for.

import { existsSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { differences } from '../../src/batches/reuse/reuse.ts';
import { staleIn } from '../../src/batches/stale-folders.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { ASKED, filesBelow, Place, wholeBatch } from './creating.ts';

/** The paths of all leftovers. */
const stalePaths = async (out: string, ageMs: number) =>
  (await staleIn({ out }, ageMs)).map(({ path }) => path);

/** The time of a new file can be a part of a millisecond after that of the clock. */
const ANY_AGE_MS = -1_000;

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('sheet.csv', 'number\n1\n2\n');
});

/** A folder in the folder of the batches, with a file in it. */
const foreign = (...names: readonly string[]): string => {
  const path = join(place.out, ...names);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, 'mine');
  return path;
};

describe('the name of a batch', () => {
  it('contains the name of its sheet and a hash of its content, unless --name is set', async () => {
    place.write('Été 2026 (final) copy.csv', 'number\n1\n');
    const { batch, file } = await place.create('Été 2026 (final) copy.csv');
    expect(batch).toBe(`t-2026-final-copy-${file.content.slice(0, 12)}`);
    place.write('写真.csv', 'number\n2\n');
    expect((await place.create('写真.csv')).batch).toMatch(/^sheet-[0-9a-f]{12}$/);
    expect((await place.create('sheet.csv', { name: 'Nightly_1' })).batch).toBe('Nightly_1');
  });

  it('is kept if its rows are given again without a name', async () => {
    const { batch } = await place.create('sheet.csv', { name: 'nightly' });
    expect((await place.create('sheet.csv')).batch).toBe(batch);
    // An explicit name means a batch with that name.
    expect((await place.create('sheet.csv', { name: 'weekly' })).batch).toBe('weekly');
  });

  it('gets a number if --again finds the name taken', async () => {
    foreign('nightly', 'photo.jpg');
    const again = { name: 'nightly', again: true };
    expect((await place.create('sheet.csv', again)).batch).toBe('nightly-2');
    expect((await place.create('sheet.csv', again)).batch).toBe('nightly-3');
  });
});

describe('a name never refers to', () => {
  it('a batch of other rows', async () => {
    const first = await place.create('sheet.csv', { name: 'nightly' });
    const kept = filesBelow(first.folder);
    place.write('other.csv', 'number\n3\n');
    const refused = {
      code: 'E602',
      message: expect.stringContaining('has other rows or another deployment'),
    };
    await expect(place.create('other.csv', { name: 'nightly' })).rejects.toMatchObject(refused);
    expect([place.names(), filesBelow(first.folder)]).toEqual([['nightly'], kept]);
  });

  it('a batch of the same rows that another call made', async () => {
    await place.create('sheet.csv', { name: 'nightly', madeFor: 'order 1' });
    const refused = {
      code: 'E602',
      message: expect.stringContaining('was made by another command or call'),
    };
    await expect(place.create('sheet.csv', { name: 'nightly', madeFor: 'order 2' })).rejects.toMatchObject(
      refused,
    );
    expect((await place.create('sheet.csv', { name: 'nightly', madeFor: 'order 1' })).batch).toBe('nightly');
  });

  it('the batches of two sheets that use it concurrently: one is created, the other is refused', async () => {
    place.write('other.csv', 'number\n3\n');
    for (let round = 0; round < 5; round += 1) {
      const name = `nightly-${round}`;
      const taken = await Promise.allSettled(
        ['sheet.csv', 'other.csv'].map((sheet) => place.create(sheet, { name })),
      );
      const refused = taken.filter((attempt) => attempt.status === 'rejected');
      expect(refused).toMatchObject([{ reason: { code: 'E602' } }]);
    }
  });

  it.each([
    ['a picture', ['photo.jpg']],
    ['only what is hidden', ['.git', 'config']],
    ['a layout that is none of ours', ['layout', 'index.html']],
    ['a layout with a note of the user', ['layout', '.removed-notes.txt']],
  ])('a folder that holds %s', async (_, names) => {
    const path = foreign('photos', ...names);
    const refused = { code: 'E602', message: expect.stringContaining('is not a batch') };
    await expect(place.create('sheet.csv', { name: 'photos' })).rejects.toMatchObject(refused);
    expect(filesBelow(join(place.out, 'photos'))).toEqual(
      names.map((_name, at) => join(...names.slice(0, at + 1))),
    );
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it('except an empty one, which a killed command can leave', async () => {
    mkdirSync(join(place.out, 'nightly'), { recursive: true });
    expect(await stalePaths(place.out, 0)).toEqual([]);
    expect((await place.create('sheet.csv', { name: 'nightly' })).batch).toBe('nightly');
  });

  it('except one whose layouts a killed command was removing', async () => {
    const layout = ['layout', '.removed-0123456789abcdef-0a1b2c3d'];
    for (const name of ['nightly', 'weekly']) foreign(name, ...layout, 'sheet.csv');
    const { batch, folder } = await place.create('sheet.csv', { name: 'nightly' });
    expect(batch).toBe('nightly');
    const stale = [join(folder, ...layout), join(place.out, 'weekly')];
    expect((await stalePaths(place.out, ANY_AGE_MS)).toSorted()).toEqual(stale);
  });

  it.each([
    ['an earlier version made', '{"format":1,"batch":"nightly"}', 'E514'],
    ['cannot be read', '{"format":', 'E504'],
  ])('a batch that %s, and no other files remain', async (_, text, code) => {
    const { batch } = await place.create('sheet.csv');
    writeFileSync(join(place.out, batch, 'batch.json'), text);
    const kept = filesBelow(place.out);
    for (const asked of [{}, { name: batch }])
      await expect(place.create('sheet.csv', asked)).rejects.toMatchObject({ code });
    expect(filesBelow(place.out)).toEqual(kept);
    expect((await place.create('sheet.csv', { again: true })).batch).toBe(`${batch}-2`);
  });
});

describe('stale files are', () => {
  const age = (path: string): void => utimesSync(path, 1, 1);

  it('never the folder or the file of another program', async () => {
    for (const names of [['a', '.git', 'config'], ['b', 'layout', 'index.html'], ['c-errors.csv']])
      foreign(...names);
    foreign('d', 'layout', '0123456789abcdef', 'sheet.csv');
    foreign('d', 'notes.txt');
    for (const name of readdirSync(place.out)) age(join(place.out, name));
    expect(await stalePaths(place.out, 1_000)).toEqual([]);
  });

  it('folders that a killed command was removing, but not what a user calls removed', async () => {
    foreign('.removed-nightly-0a1b2c3d', 'sheet.csv');
    foreign('.removed-mine', 'letter.txt');
    foreign('.removed-notes.txt');
    expect(await stalePaths(place.out, ANY_AGE_MS)).toEqual([join(place.out, '.removed-nightly-0a1b2c3d')]);
  });

  it('the list of problems of a sheet', async () => {
    place.write('bad.csv', 'gpu\nNOPE\n');
    await expect(place.create('bad.csv')).rejects.toMatchObject({ code: 'E200' });
    expect(await stalePaths(place.out, 0)).toEqual([join(place.out, 'bad-errors.csv')]);
    expect(await stalePaths(place.out, 60_000)).toEqual([]);
  });

  it('no files of a batch, also if this version cannot read it', async () => {
    const { folder } = await place.create('sheet.csv');
    expect(await stalePaths(place.out, 0)).toEqual([]);
    foreign('old', 'layout', '0123456789abcdef', 'sheet.csv');
    foreign('old', 'batch.json');
    expect(await stalePaths(place.out, 0)).toEqual([]);
    expect(existsSync(folder)).toBe(true);
  });
});

it('a list of problems never overwrites another file', async () => {
  const path = foreign('bad-errors.csv');
  place.write('bad.csv', 'gpu\nNOPE\n');
  await expect(place.create('bad.csv')).rejects.toMatchObject({ code: 'E200' });
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

describe('ignored settings are named with the settings of the batch', () => {
  const made = (): Promise<CreatedBatch> => place.create('sheet.csv');
  const { settings } = ASKED;

  it('by their flags, without the limits, which change the batch', async () => {
    const batch = await made();
    expect(filesBelow(batch.folder)).toEqual(wholeBatch(batch.file));
    const params = {
      concurrency: 9,
      retries: 3,
      unconfirmed: { rule: 'resubmit', afterMs: 7_200_000 },
      deadlines: { queueMs: 60_000, runMs: 90_000 },
      webhooks: false,
    } as const;
    expect(differences(batch, params)).toEqual([
      '--unconfirmed (it has unknown)',
      '--queue-timeout (it has 86400s)',
      '--run-timeout (it has none)',
      '--poll (it has webhooks)',
    ]);
  });

  it('with the time of resubmit-after', async () => {
    const rule = (afterMs: number) => ({ ...settings, unconfirmed: { rule: 'resubmit', afterMs } }) as const;
    const batch = await place.create('sheet.csv', { settings: rule(7_200_000) });
    expect(differences(batch, rule(7_200_000))).toEqual([]);
    expect(differences(batch, rule(3_600_000))).toEqual(['--unconfirmed (it has resubmit-after=7200s)']);
  });

  it('except settings that are equal or not given', async () => {
    const batch = await made();
    expect(differences(batch, settings)).toEqual([]);
    expect(differences(batch, { deadlines: {}, webhooks: true })).toEqual([]);
    const polled = await place.create('sheet.csv', {
      again: true,
      settings: { ...settings, webhooks: false },
    });
    expect(differences(polled, { deadlines: {}, webhooks: true })).toEqual([]);
  });
});
