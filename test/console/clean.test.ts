// clean, on this machine: what it removes, what it leaves alone, and what it says of what it cannot remove.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Config } from '../../src/host/settings/config.ts';
import { NAMES } from '../../src/batches/reuse/reuse.ts';
import { findStale, removeStale } from '../../src/library/clean.ts';
import { createPass } from '../../src/store/passes.ts';
import { makeTooDeep, removeTooDeep } from '../store/too-deep.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const LEFT = '.removed-older-00000000';
const CLEAN = ['clean', '--yes', '--older-than', '0d'];

let console: Console;
const at = (...names: readonly string[]): string => join(console.out, ...names);
beforeEach(async () => {
  console = await Console.open();
  mkdirSync(console.out);
});

/** A file of a leftover or of another program, long ago. */
function old(...names: readonly string[]): string {
  const path = at(...names);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, 'mine');
  for (const folder of [path, join(path, '..')]) utimesSync(folder, 1, 1);
  return path;
}

const batchOf = (name: string) => console.batch(console.write('s.csv', 'prompt\na hen\n'), name);

describe('clean removes nothing behind a link', () => {
  it.each(['layout', 'outputs', 'parts'])('to a folder of others in the place of %s', async (name) => {
    const { folder } = await batchOf('hens');
    const photos = join(console.folder, 'photos');
    mkdirSync(join(photos, '0123456789abcdef'), { recursive: true });
    writeFileSync(join(photos, '0123456789abcdef', 'a.jpg'), 'mine');
    writeFileSync(join(photos, 'b.jpg'), 'mine');
    for (const photo of readdirSync(photos)) utimesSync(join(photos, photo), 1, 1);
    rmSync(join(folder, name), { recursive: true, force: true });
    symlinkSync(photos, join(folder, name));
    expect(await console.run(...CLEAN)).toMatchObject({ code: 0, stdout: '' });
    expect(readdirSync(photos, { recursive: true })).toHaveLength(3);
  });

  it('when the batch of the link is removed', async () => {
    const created = await batchOf('hens');
    await endBatch(created);
    const photos = join(console.folder, 'photos');
    renameSync(join(created.folder, 'layout'), photos);
    symlinkSync(photos, join(created.folder, 'layout'));
    expect(await console.run(...CLEAN)).toMatchObject({ code: 0, stdout: `${created.folder}\n` });
    expect([existsSync(created.folder), readdirSync(photos)]).toEqual([false, [created.file.mark]]);
  });

  it('to the names that contents have', async () => {
    const elsewhere = join(console.folder, 'elsewhere');
    const draft = join(elsewhere, '.0123456789ab-1.part');
    mkdirSync(elsewhere);
    writeFileSync(draft, 'mine');
    utimesSync(draft, 1, 1);
    symlinkSync(elsewhere, at(NAMES));
    expect(await console.run(...CLEAN)).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(draft)).toBe(true);
  });
});

describe('a folder that clean cannot remove', () => {
  const undeletable = (name: string): string => {
    makeTooDeep(at(name));
    utimesSync(at(name), 1, 1);
    onTestFinished(() => void removeTooDeep(console.out));
    return at(name);
  };

  it('stops no other, and is named with the reason', async () => {
    const kept = undeletable(LEFT);
    const removed = ['.removed-a-00000001', '.removed-z-00000001'].map((name) => join(old(name, 'x'), '..'));
    const { code, stderr } = await console.run(...CLEAN);
    expect(code).toBe(1);
    expect(stderr).toContain('2 paths removed');
    expect(stderr).toContain(`not removed: ${kept}: ENAMETOOLONG`);
    expect([kept, ...removed].map((path) => existsSync(path))).toEqual([true, false, false]);
  });
});

it('clean removes no batch that was continued since it was found', async () => {
  const created = await batchOf('hens');
  await endBatch(created);
  const config = { out: console.out, home: join(console.folder, 'home') } as Config;
  const stale = await findStale(config, { olderThanMs: 0, isStateMeant: false });
  await createPass(created.store, 2, { at: new Date().toISOString(), kind: 'retry', segments: [] });
  const removed = await removeStale(stale, true, () => undefined);
  expect(removed.failed).toEqual([{ path: created.folder, reason: 'it has been continued' }]);
  expect(existsSync(created.folder)).toBe(true);
});

it('clean leaves what commands and servers may still need: fresh files, batches that have not ended, their state', async () => {
  await batchOf('hens');
  for (const layout of ['hens', 'goats']) {
    mkdirSync(at(layout, 'layout', '0123456789abcdef'), { recursive: true });
    writeFileSync(at(layout, 'layout', '0123456789abcdef', 'sheet.csv'), 'prompt\n');
  }
  expect(await console.run(...CLEAN)).toMatchObject({ code: 0, stdout: '' });
  const home = join(console.folder, 'home');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'embedded.json'), JSON.stringify({ pid: process.pid }));
  const { code, stderr } = await console.run(...CLEAN, '--state');
  expect([code, existsSync(home)]).toEqual([2, true]);
  expect(stderr).toContain(`the embedded servers of ${home} are running`);
});

it('clean keeps the batches of a pipeline until all its stages have ended, then removes them with its folder', async () => {
  const stages = [{ name: 'drafts' }, { name: 'finals', from: 'drafts' }];
  const file = { pipeline: 'poster', mark: '0123456789abcdef', createdAt: '', stages };
  mkdirSync(at('poster'));
  writeFileSync(at('poster', 'pipeline.json'), JSON.stringify(file));
  const sheet = console.write('s.csv', 'prompt\na hen\n');
  const made = async (stage: string) =>
    endBatch(
      await console.batch(sheet, `poster-${stage}`, undefined, undefined, `pipeline poster stage ${stage}`),
    );
  await made('drafts');
  const { code, stdout, stderr } = await console.run(...CLEAN);
  expect([code, stdout, existsSync(at('poster-drafts'))]).toEqual([0, '', true]);
  expect(stderr).toContain(`kept: ${at('poster-drafts')}: stage finals of pipeline poster has not ended`);
  await made('finals');
  const removed = (await console.run(...CLEAN)).stdout.trim().split('\n').sort();
  expect(removed).toEqual(['poster', 'poster-drafts', 'poster-finals'].map((name) => at(name)));
  expect(readdirSync(console.out).filter((name) => !name.startsWith('.'))).toEqual([]);
});
